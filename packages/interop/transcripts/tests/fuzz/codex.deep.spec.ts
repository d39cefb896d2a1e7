import { fuzzMany } from './many.ts'

fuzzMany('Codex')
