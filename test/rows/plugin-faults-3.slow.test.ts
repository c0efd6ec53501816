/** A third of the whole matrix of `plugin-faults.deep.test.ts` for journeys with slow hashes: three files run at a time. */
import { testMatrix } from './_plugin-matrix.ts'

await testMatrix((journey, at) => journey.slow === true && at % 3 === 2)
