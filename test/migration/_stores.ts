/** Databases of a former app: PostgreSQL in the gate, libSQL too in the full tier, and alone where there is no PostgreSQL. */
import { isFullTier } from '../_tier.ts'
import { reachable } from '../adapters/_servers.ts'

const hasPostgres = (await reachable('postgres')) || process.env.CI !== undefined

export const stores: readonly ('libsql' | 'postgres')[] = [
  ...(isFullTier || !hasPostgres ? (['libsql'] as const) : []),
  ...(hasPostgres ? (['postgres'] as const) : []),
]
