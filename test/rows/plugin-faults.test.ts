/**
 * The fault matrix over plugins: every call to the store, the records, the network and the mail transport in every journey, and every way in which
 * it can go wrong. The calls are those of a journey without a fault, so what is added to a plugin is tested from then on. Journeys with slow hashes
 * are sampled here and complete in the full tier.
 */
import { testMatrix } from './_plugin-matrix.ts'

await testMatrix((journey, at, index) => !journey.slow || (at % 6 === 0 && index === (at / 6) % 12))
