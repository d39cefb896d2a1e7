import { fuzzMany } from './many.ts'

fuzzMany('messages')
