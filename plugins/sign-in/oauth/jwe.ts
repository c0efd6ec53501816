/** Tokens that the provider encrypted for this client (OpenID Connect Core section 10.2). Loaded where a provider has `decryptionKey`. */
import { compactDecrypt, decodeProtectedHeader } from 'jose'
import { TokenRefusal } from './errors.ts'
import type { OAuthProvider } from './provider.ts'

// Asymmetric ones: only this client can read them.
const keyManagementAlgorithms = ['RSA-OAEP', 'RSA-OAEP-256', 'RSA-OAEP-384', 'RSA-OAEP-512'].concat([
  'ECDH-ES',
  'ECDH-ES+A128KW',
  'ECDH-ES+A192KW',
  'ECDH-ES+A256KW',
])
const contentEncryptionAlgorithms = ['A128GCM', 'A192GCM', 'A256GCM', 'A128CBC-HS256', 'A192CBC-HS384', 'A256CBC-HS512']
const maxLength = 131_072

/** The token inside; a token that is not encrypted as it is. Throws `Refusal` and the errors of jose. */
export async function decryptToken(
  provider: OAuthProvider,
  token: string,
  registered: { alg?: unknown; enc?: unknown },
  what: string,
): Promise<string> {
  if (token.split('.').length !== 5) {
    if (registered.alg === undefined) return token
    throw new TokenRefusal(`${what} is not encrypted, as the client registered it.`)
  }
  if (token.length > maxLength) throw new TokenRefusal(`${what} is too long.`)
  const { kid } = headerOf(token)
  const { key } = keyFor(provider, kid)
  const { plaintext } = await compactDecrypt(token, key, {
    keyManagementAlgorithms: typeof registered.alg === 'string' ? [registered.alg] : keyManagementAlgorithms,
    contentEncryptionAlgorithms: typeof registered.enc === 'string' ? [registered.enc] : contentEncryptionAlgorithms,
  })
  return new TextDecoder().decode(plaintext)
}

function headerOf(token: string): { kid?: string } {
  try {
    return decodeProtectedHeader(token)
  } catch {
    throw new TokenRefusal('The token has no header that can be read.')
  }
}

function keyFor({ decryptionKey }: OAuthProvider, kid: string | undefined): { key: CryptoKey } {
  const list = [decryptionKey ?? []].flat().map((one) => ('key' in one ? one : { key: one, kid: undefined }))
  const found =
    list.find((one) => one.kid !== undefined && one.kid === kid) ?? list.find((one) => one.kid === undefined || kid === undefined)
  if (!found) throw new TokenRefusal('The token is encrypted for a key that `decryptionKey` has not.')
  return found
}
