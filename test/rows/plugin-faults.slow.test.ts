/** The whole of the matrix of `plugin-faults.deep.test.ts` for journeys with slow hashes. */
import { testMatrix } from './_plugin-matrix.ts'

await testMatrix((journey) => journey.slow === true)
