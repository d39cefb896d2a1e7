import { describeKills } from './kill.ts'

describeKills(200)
