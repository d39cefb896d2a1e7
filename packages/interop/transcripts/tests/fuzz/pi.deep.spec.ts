import { fuzzMany } from './many.ts'

fuzzMany('pi')
