/**
 * The fault matrix over plugins: every call to the store, the records, the network and the mail transport in every journey, and every way in which
 * it can go wrong. The calls are those of a journey without a fault, so what is added to a plugin is tested from then on. The gate takes every sixth
 * way of each call, another one at each, and fewer of journeys with slow hashes; the full tier takes all.
 */
import { isFullTier } from '../_tier.ts'
import { testMatrix } from './_plugin-matrix.ts'

await testMatrix((journey, at, index) => {
  if (!journey.slow) return isFullTier || (at + index) % 6 === 0
  return at % 12 === 0 && index === (at / 12) % 12
})
