/**
 * Amazon Cognito: pages of `aws cognito-idp list-users`, or a CSV with the columns of `get-csv-header`. Cognito exports no hashes: passwords come along
 * by the option `legacyPassword`, or by a reset.
 */
import { accountOf, droppedOf, idOf, isTrue, listOf, nameOf, numberOf, rowsOf, textOf } from './fields.ts'
import type { ImportedUser, Source, ExportedRow } from './shape.ts'

const providers = { Google: 'google', Facebook: 'facebook', LoginWithAmazon: 'amazon', SignInWithApple: 'apple' } as const
// Attributes of the standard, which have no field here, and those of Cognito.
const knownAttributes =
  /^(?:sub|email|email_verified|phone_number|phone_number_verified|name|given_name|family_name|picture|preferred_username|identities|cognito:.*|updated_at|locale|zoneinfo)$/

export const cognito: Source = { lists: ['Users'], read: (row) => [readUser(row)] }

function readUser(row: ExportedRow): ImportedUser {
  const listed = rowsOf(row['Attributes'] ?? row['UserAttributes'])
  const attributes: ExportedRow = listed.length > 0 ? Object.fromEntries(listed.map(({ Name, Value }) => [String(Name), Value])) : row
  const username = textOf(row['Username']) ?? textOf(row['cognito:username'])
  const status = textOf(row['UserStatus'])
  const accounts = rowsOf(attributes['identities']).flatMap(({ providerName, userId }) => accountOf(providers, providerName, userId))
  const number = numberOf(attributes['phone_number'])
  const roles = listOf(row['Groups'])
  // The username of a user without one is the id, or `google_<id>`.
  const chosen = textOf(attributes['preferred_username']) ?? (accounts.length > 0 || username === attributes['sub'] ? undefined : username)
  return {
    kind: 'user',
    id: idOf({ sub: attributes['sub'], username }, 'sub', 'username'),
    email: textOf(attributes['email']) ?? null,
    emailVerified: isTrue(attributes['email_verified']),
    name: nameOf(attributes['name']) ?? nameOf(attributes['given_name'], attributes['family_name']) ?? null,
    image: textOf(attributes['picture']) ?? null,
    username: chosen !== undefined && !chosen.includes('@') && !chosen.startsWith('+') ? chosen : null,
    phone: number === undefined ? null : { number, verified: isTrue(attributes['phone_number_verified']) },
    accounts,
    ban: row['Enabled'] === false || row['Enabled'] === 'false' ? { reason: 'Disabled in Cognito.' } : null,
    ...(roles.length > 0 && { roles }),
    ...(status !== 'EXTERNAL_PROVIDER' && { lostPassword: 'not-exported' as const }),
    ...droppedOf({
      factors: isTrue(row['cognito:mfa_enabled']) || rowsOf(row['MFAOptions']).length > 0 || listOf(row['UserMFASettingList']).length > 0,
      metadata: Object.keys(attributes).some((name) => name.startsWith('custom:') || (listed.length > 0 && !knownAttributes.test(name))),
    }),
  }
}
