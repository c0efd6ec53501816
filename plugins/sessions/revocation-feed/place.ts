/** Places in a feed: of a revocation, and of a session. A revocation reaches the sessions that began before it in the feed, whatever clocks said. */
import type { Revocation } from 'authkernel/kernel'

/** A revocation at its place. */
export interface PlacedRevocation extends Revocation {
  /** An earlier one of the same key, which this one does not replace. */
  earlier?: PlacedRevocation | undefined
  /** Milliseconds from which it may be forgotten. */
  readonly until: number
  readonly region: string
  readonly epoch: string
  readonly shard: string
  readonly seq: number
}
/** How far a feed was read. */
export interface FeedPlace {
  readonly region: string
  /** Name of the feed; empty: nothing was revoked yet. */
  readonly epoch: string
  /** Number of the last revocation that was read, by shard. */
  readonly seqs: ReadonlyMap<string, number>
}

/** The place as the claim of a token keeps it: some 60 characters after a million revocations. */
export function writePlace({ region, epoch, seqs }: FeedPlace): string {
  const known = [...seqs].filter(([, seq]) => seq > 0).map(([shard, seq]) => `${shard}:${seq.toString(36)}`)
  return [region, epoch, ...known].join(' ')
}

/** Undefined for what is no place. */
export function readPlace(text: unknown): FeedPlace | undefined {
  if (typeof text !== 'string') return undefined
  const [region = '', epoch = '', ...known] = text.split(' ')
  const seqs = new Map<string, number>()
  for (const one of known) {
    const at = one.indexOf(':')
    seqs.set(one.slice(0, at), Number.parseInt(one.slice(at + 1), 36))
  }
  return { region, epoch, seqs }
}

/**
 * Whether a revocation reaches a session that began at a place. `started` and `difference` are in milliseconds. The clock decides for sessions without a
 * place, for logouts that name a time, and where a store has lost what it had acknowledged.
 */
export function isReached(
  { before, bounded, region, epoch, shard, seq }: PlacedRevocation,
  { started, place }: { started: number; place: FeedPlace | undefined },
  difference: number,
): boolean {
  if (!place) return before >= started
  // Its home decides: what reaches a session of another region is in the feed of that region too.
  if (place.region !== region) return false
  if (bounded && !(before + difference >= started)) return false
  if (place.epoch !== '' && place.epoch !== epoch) return before + difference >= started
  return seq > (place.seqs.get(shard) ?? 0) || before >= started + difference
}

/** Enters a revocation: the newest first, without those that it replaces. */
export function addPlaced(entries: Map<string, PlacedRevocation>, entry: PlacedRevocation): void {
  const chain: PlacedRevocation[] = []
  for (let one = entries.get(entry.key); one; one = one.earlier)
    if (!isSame(one, entry) && !isReplaced(one, entry)) chain.push({ ...one, earlier: undefined })
  let place = 0
  while (place < chain.length && !isNewer(entry, chain[place]!)) place++
  chain.splice(place, 0, { ...entry, earlier: undefined })
  // The copy holds the newest only as far as nothing older says more.
  for (let at = chain.length - 1; at > 0; at--) chain[at - 1] = { ...chain[at - 1]!, earlier: chain[at] }
  entries.set(entry.key, chain[0]!)
}

function isSame(one: PlacedRevocation, other: PlacedRevocation): boolean {
  return one.seq === other.seq && one.shard === other.shard && one.region === other.region && one.epoch === other.epoch
}

/** Only one that spares no session and names no time says all that an earlier one of its shard says. */
function isReplaced(one: PlacedRevocation, by: PlacedRevocation): boolean {
  return (
    one.region === by.region &&
    one.epoch === by.epoch &&
    one.shard === by.shard &&
    one.seq < by.seq &&
    one.before <= by.before &&
    one.until <= by.until &&
    !by.bounded &&
    (by.except ?? null) === null
  )
}

function isNewer(one: PlacedRevocation, other: PlacedRevocation): boolean {
  return one.before > other.before || (one.before === other.before && one.seq > other.seq)
}
