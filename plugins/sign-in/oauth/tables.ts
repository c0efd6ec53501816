/** The record of addresses that providers call unverified. */
import type { Kernel, RecordSpec } from 'authkernel/kernel'

/** An account whose provider said of an address that it is not verified. Its id is made of provider and account. */
export interface DeniedAddressRow extends Record<string, unknown> {
  userId: string
  /** SHA-256 of the address. */
  address: string
}

declare module 'authkernel/kernel' {
  interface Records {
    deniedAddress: DeniedAddressRow
  }
}

const deniedAddressTable: RecordSpec<DeniedAddressRow> = {
  fields: { userId: { type: 'string', max: 200 }, address: { type: 'string', max: 64 } },
  index: [['userId']],
  owner: 'user',
  id: 'given',
}

/** Declares it. An app of Auth.js with providers and magic links alone needs no further table in its database. */
export function declareDenials(kernel: Kernel): void {
  kernel.records('deniedAddress', deniedAddressTable, {
    optional: true,
    when: (requires, { needsTables }) => !needsTables || requires('records'),
  })
}
