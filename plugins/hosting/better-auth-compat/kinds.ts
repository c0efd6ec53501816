/** The kinds of things that move, in the order in which they are written. */
import { apiKeyKind } from './api-keys.ts'
import { connectionKind } from './connections.ts'
import { directoryKinds } from './directories.ts'
import { oauthKinds } from './oauth-clients.ts'
import { organizationKinds } from './organizations.ts'
import type { Source } from './source.ts'
import { banKind, factorKind, type MovedKind, nameKind, numberKind, passwordKind } from './users.ts'

export const kinds: readonly MovedKind<unknown>[] = [
  passwordKind(),
  factorKind(),
  banKind(),
  nameKind(),
  numberKind(),
  ...organizationKinds(),
  apiKeyKind(),
  connectionKind(),
  ...directoryKinds(),
  ...oauthKinds(),
]

/** Whether the database has a table of the kind. */
export function isThereIn(source: Source, { model, models = [model] }: MovedKind<unknown>): boolean {
  return models.some((one) => source.has(one))
}
