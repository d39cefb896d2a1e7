import { fuzzMany } from './many.ts'

fuzzMany('Claude Code')
