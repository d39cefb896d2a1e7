import { describeCrashes } from './crash-matrix.ts'

describeCrashes('after every single event it resumes, and no body runs again', (whole) =>
  whole.flatMap(({ seq }) => [
    { mode: 'appended', seq },
    { mode: 'durable', seq },
  ]),
)
