import { tsupPackage } from '../../../scripts/tsup-package.ts'

export default tsupPackage(['src/main.ts'], false)
