/** Options of the feed, and with their defaults. */
import { assertOptions, AuthError, type RecordStore } from 'authkernel/kernel'

/** What `revocationFeedPlugin` takes. */
export interface RevocationFeedOptions {
  /**
   * Seconds that a process may go without having read the feed to its end; default 10, and half a second with scimPlugin. 0: the feed is read at each use of
   * a token.
   */
  staleness?: number | undefined
  /** Seconds that the clocks of two servers may differ; default 2. Only logouts that a provider sends late are compared by the clock. */
  clockDifference?: number | undefined
  /** Name of this region, 1 to 32 letters, digits and hyphens; default: there is one region, without a name. */
  region?: string | undefined
  /** Stores of records of the other regions by their names, `sqlRecords(db)` for example. A revocation of a user is written to all regions. */
  regions?: Readonly<Record<string, RecordStore>> | undefined
  /**
   * What happens to a token of another region whose feed was not read to its end within `staleness`. `ask` (default): the request waits for the region, and
   * gets 503 where it does not answer. `reject`: the request gets 503 at once, and the region is asked meanwhile.
   */
  whenStale?: 'ask' | 'reject' | undefined
  /** Heads of each feed, 1 to 64; default 16. Raise it and never lower it. */
  shards?: number | undefined
  /**
   * Writes revocations into the list of jwtSessionPlugin too, for processes that run without this plugin; default false. The list is read in any case.
   */
  alsoList?: boolean | undefined
}
/** With the defaults. */
export type FeedOptions = {
  [K in keyof RevocationFeedOptions]-?: K extends 'staleness' ? number | undefined : NonNullable<RevocationFeedOptions[K]>
}

const regionName = /^[A-Za-z0-9-]{1,32}$/

/** Throws AuthError for options that cannot be. */
export function resolveOptions(options: RevocationFeedOptions): FeedOptions {
  assertOptions('Plugin "revocation-feed"', options, {
    staleness: true,
    clockDifference: true,
    region: true,
    regions: true,
    whenStale: true,
    shards: true,
    alsoList: true,
  })
  const { staleness, clockDifference = 2, region = '', regions = {}, whenStale = 'ask', shards = 16, alsoList = false } = options
  const wrong = (what: string): AuthError => new AuthError(`Plugin "revocation-feed": ${what}`)
  if (staleness !== undefined && !(staleness >= 0)) throw wrong('`staleness` must be 0 or more seconds.')
  if (!(clockDifference >= 0)) throw wrong('`clockDifference` must be 0 or more seconds.')
  if (!(Number.isInteger(shards) && shards >= 1 && shards <= 64)) throw wrong('`shards` must be 1 to 64.')
  if (!['ask', 'reject'].includes(whenStale)) throw wrong('`whenStale` must be "ask" or "reject".')
  if (region === '' && Object.keys(regions).length > 0) throw wrong('`regions` needs the name of this region: region: "eu".')
  if (region in regions) throw wrong(`\`regions\` lists the other regions alone, and "${region}" is this one.`)
  for (const name of [...(region === '' ? [] : [region]), ...Object.keys(regions)])
    if (!regionName.test(name)) throw wrong(`the region ${JSON.stringify(name)} must be 1 to 32 letters, digits and hyphens.`)
  for (const [name, store] of Object.entries(regions))
    if (typeof store?.define !== 'function') throw wrong(`\`regions.${name}\` must be a store of records, such as sqlRecords(db).`)
  return { staleness, clockDifference, region, regions, whenStale, shards, alsoList }
}
