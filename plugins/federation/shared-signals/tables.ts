/** The record of names that providers give to users. */
import type { RecordSpec } from 'authkernel/kernel'

/** Whose `sub` at a provider: a row for each account whose id is another text. Its id is made of provider and name. */
export interface ProviderSubjectRow extends Record<string, unknown> {
  userId: string
}

declare module 'authkernel/kernel' {
  interface Records {
    providerSubject: ProviderSubjectRow
  }
}

export const subjectTable: RecordSpec<ProviderSubjectRow> = {
  fields: { userId: { type: 'string', max: 200 } },
  index: [['userId']],
  owner: 'user',
  id: 'given',
}
