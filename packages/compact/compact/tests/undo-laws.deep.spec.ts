import { describeUndoLaws } from './undo-laws.ts'

describeUndoLaws(20)
