/** The record of links that owners send. */
import type { RecordSpec } from 'authkernel/kernel'

/** A row of `portalLink`: one link, and the session of the browser that opened it. */
export interface LinkRow {
  organizationId: string
  /** Keyed hash of the token in the link. */
  token: string
  /** Keyed hash of the token in the cookie of the browser that opened it; null: not opened. */
  session: string | null
  /** `sent`, or `open`: the token in the link opens nothing more. */
  state: 'sent' | 'open'
  /** Of the user it was made for. */
  email: string
  /** What may be seen and changed there. */
  scopes: string[]
  /** Id of the owner who made it; null: the host's own code. */
  createdBy: string | null
  created: Date
  opened: Date | null
  expires: Date
}

declare module 'authkernel/kernel' {
  interface Records {
    portalLink: LinkRow
  }
}

const date = { type: 'date' } as const

export const linkTable: RecordSpec<LinkRow> = {
  fields: {
    organizationId: { type: 'string', max: 64 },
    token: { type: 'string', max: 64, secret: true },
    session: { type: 'string', max: 64, optional: true, secret: true },
    state: { type: 'string', max: 8 },
    email: { type: 'string', max: 254 },
    scopes: { type: 'json' },
    createdBy: { type: 'string', max: 255, optional: true },
    created: date,
    opened: { type: 'date', optional: true },
    expires: date,
  },
  unique: [['token'], ['session']],
  index: [['organizationId', 'created']],
  // Links of a deleted owner end with the owner.
  owner: { field: 'createdBy', of: 'user' },
  added: 'created',
  expires: 'expires',
}
