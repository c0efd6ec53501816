/** The records of agents and of what they asked their owners for. */
import type { RecordSpec, Row } from 'authkernel/kernel'

/** A row of `agent`. */
export interface AgentRow {
  /** The owner. Deleting the user deletes the row. */
  userId: string
  name: string
  scopes: string[]
  /** SHA-256 of the secret, which has 256 random bits, in hex. */
  hash: string
  /** The same of the secret before, and until when it counts; null: there is none. */
  formerHash: string | null
  formerUntil: Date | null
  /** The last 4 characters of the credential. */
  tail: string
  /** Requests that are left. */
  left: number
  /** Requests of the budget. */
  requests: number
  /** The end of the budget. */
  until: Date
  /** Who stopped it: `owner`, `admin` or `access`; empty: it runs. */
  stopped: string
  created: Date
  used: Date | null
}
export type AgentRecord = Row<AgentRow>

/** A row of `agentApproval`: what an agent wants to do, and what its owner said. */
export interface AgentApprovalRow {
  userId: string
  agentId: string
  /** SHA-256 of scopes and action: an agent asks once for the same thing. */
  digest: string
  scopes: string[]
  /** What for, as the app words it for the owner. */
  action: string
  status: 'pending' | 'approved' | 'denied'
  created: Date
  expires: Date
}
export type AgentApproval = Row<AgentApprovalRow>

declare module 'authkernel/kernel' {
  interface Records {
    agent: AgentRow
    agentApproval: AgentApprovalRow
  }
}

export const agentTable: RecordSpec<AgentRow> = {
  id: 'given',
  fields: {
    userId: { type: 'string' },
    name: { type: 'string', max: 100 },
    scopes: { type: 'json' },
    hash: { type: 'string', max: 64, secret: true },
    formerHash: { type: 'string', max: 64, optional: true, secret: true },
    formerUntil: { type: 'date', optional: true },
    tail: { type: 'string', max: 4 },
    left: { type: 'integer' },
    requests: { type: 'integer' },
    until: { type: 'date' },
    stopped: { type: 'string', max: 16 },
    created: { type: 'date' },
    used: { type: 'date', optional: true },
  },
  index: [['userId', 'created'], ['created']],
  owner: 'user',
  added: 'created',
}

export const agentApprovalTable: RecordSpec<AgentApprovalRow> = {
  fields: {
    userId: { type: 'string' },
    agentId: { type: 'string', max: 32 },
    digest: { type: 'string', max: 64, secret: true },
    scopes: { type: 'json' },
    action: { type: 'text' },
    status: { type: 'string', max: 16 },
    created: { type: 'date' },
    expires: { type: 'date' },
  },
  unique: [['agentId', 'digest']],
  index: [
    ['userId', 'created'],
    ['agentId', 'created'],
  ],
  owner: 'user',
  expires: 'expires',
  added: 'created',
}
