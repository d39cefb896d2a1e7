import { fuzzMany } from './many.ts'

fuzzMany('deepseek-harness')
