import { tsupPackage } from '../../../scripts/tsup-package.ts'

export default tsupPackage(['src/index.ts'])
