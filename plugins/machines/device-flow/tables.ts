/** The record of device codes. */
import type { RecordSpec, Row, SessionAttributes, StampOfAccess } from 'authkernel/kernel'

/** A row of `deviceCode`; its id is a keyed hash of the device code. */
export interface DeviceCodeRow {
  /** A keyed hash: eight letters could be tried out in a copy of the table. */
  userCode: string
  clientId: string
  scopes: string[]
  status: 'pending' | 'approved' | 'denied'
  /** Who approved it. */
  userId: string | null
  attributes: SessionAttributes | null
  /** The state of the user's access when it was approved. */
  access: StampOfAccess | null
  /** Of the device that asked. */
  address: string | null
  userAgent: string | null
  /** Seconds between two polls. */
  interval: number
  polled: Date
  /** Too late after that. The row stays for a while, so that the device learns why. */
  until: Date
  expires: Date
}
export type DeviceCode = Row<DeviceCodeRow>

declare module 'authkernel/kernel' {
  interface Records {
    deviceCode: DeviceCodeRow
  }
}

export const deviceCodeTable: RecordSpec<DeviceCodeRow> = {
  id: 'given',
  fields: {
    userCode: { type: 'string', max: 64, secret: true },
    clientId: { type: 'string', max: 100 },
    scopes: { type: 'json' },
    status: { type: 'string', max: 8 },
    userId: { type: 'string', optional: true },
    attributes: { type: 'json', optional: true },
    access: { type: 'json', optional: true },
    address: { type: 'string', max: 64, optional: true },
    userAgent: { type: 'text', optional: true },
    interval: { type: 'integer' },
    polled: { type: 'date' },
    until: { type: 'date' },
    expires: { type: 'date' },
  },
  unique: [['userCode']],
  index: [['userId']],
  owner: { field: 'userId', of: 'user' },
  expires: 'expires',
}
