/** The kinds of things that move, in the order in which they are written. */
import { apiKeyKind } from './api-keys.ts'
import { organizationKinds } from './organizations.ts'
import { banKind, factorKind, type MovedKind, nameKind, numberKind, passwordKind } from './users.ts'

export const kinds: readonly MovedKind<unknown>[] = [
  passwordKind(),
  factorKind(),
  banKind(),
  nameKind(),
  numberKind(),
  ...organizationKinds(),
  apiKeyKind(),
]
