/** The floor of a cold open: reads and parses, and keeps every value. Prints the time since the process began. */
import { readLines } from './read-lines.ts'
import { reportOpened } from './report-opened.ts'

const values = readLines(process.argv[2] as string)
reportOpened(values, values.length - 1)
