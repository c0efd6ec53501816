/** Rows of a feed: one head for each shard, and its revocations under numbers without gaps. */
import type { RecordSpec } from 'authkernel/kernel'

/** Where a shard ends. One more row, `epoch`, names the feed itself. */
export interface RevocationHeadFields {
  /** Number of the last revocation; 0: none yet. */
  seq: number
  /** Number of the first revocation that is kept. */
  first: number
  /** Of the commit that wrote `seq`; of the row `epoch`: the name of the feed. */
  tag: string
}
/** One revocation. Its id is the shard, a dot, and the number. */
export interface RevocationEntryFields {
  shard: string
  seq: number
  /** Of the commit that wrote the row, and of the revocation before it: a store that lost commits has another one there. */
  tag: string
  previous: string
  /** SHA-256 of `key`, to look up by. */
  name: string
  /** Namespace, a blank, and what is ended. */
  key: string
  before: number
  /** Whether the revocation reaches only sessions that began up to `before`. */
  bounded: boolean
  except: string | null
  /** From when on it may be forgotten: no token that it reaches lives by then. */
  until: Date
}

declare module 'authkernel/kernel' {
  interface Records {
    revocationHead: RevocationHeadFields
    revocationEntry: RevocationEntryFields
  }
}

export const headName = 'revocationHead'
export const entryName = 'revocationEntry'

export const headRecord: RecordSpec<RevocationHeadFields> = {
  fields: { seq: { type: 'integer' }, first: { type: 'integer' }, tag: { type: 'string', max: 32 } },
  id: 'given',
}

// No `expires`: rows go in the order of their numbers alone, so that a number that is missing is a fault that a reader notices.
export const entryRecord: RecordSpec<RevocationEntryFields> = {
  fields: {
    shard: { type: 'string', max: 4 },
    seq: { type: 'integer' },
    tag: { type: 'string', max: 32 },
    previous: { type: 'string', max: 32 },
    name: { type: 'string', max: 64 },
    key: { type: 'text' },
    before: { type: 'integer' },
    bounded: { type: 'boolean' },
    except: { type: 'string', optional: true },
    until: { type: 'date' },
  },
  index: [['shard', 'seq'], ['name']],
  id: 'given',
}
