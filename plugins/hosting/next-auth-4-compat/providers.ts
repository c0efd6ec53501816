/** Providers as NextAuth 4 describes them. */
import { AuthError, CredentialsSignin, type ProviderInput } from 'authkernel/kernel'

type Fields = Record<string, unknown>
type Announce = (text: string) => void

const discovery = '/.well-known/openid-configuration'
const longestMessage = 200

/** The same provider for `createAuth`. A factory that is not called stays one. Throws AuthError for OAuth 1.0. */
export function convertProvider(provider: unknown, announce: Announce): ProviderInput {
  if (typeof provider !== 'object' || provider === null) return provider as ProviderInput
  const { type } = provider as Fields
  // Options of version 4 have no types here. The kernel checks what the conversion made, as it checks each provider.
  if (type === 'credentials') return bothLevels(provider as Fields, convertCredentials) as unknown as ProviderInput
  // As above: the kernel checks the converted provider.
  if (type === 'oauth') return convertOAuth(provider as Fields, announce) as unknown as ProviderInput
  return provider as ProviderInput
}

function bothLevels(provider: Fields, convert: (fields: Fields) => Fields): Fields {
  const { options, ...own } = provider
  return { ...convert(own), ...(isFields(options) && { options: convert(options) }) }
}

function convertOAuth(provider: Fields, announce: Announce): Fields {
  const all = { ...provider, ...(isFields(provider['options']) && provider['options']) } as Fields
  const id = String(all['id'])
  if (String(all['version'] ?? '').startsWith('1') || all['requestTokenUrl'] !== undefined)
    throw new AuthError(
      `Provider "${id}" speaks OAuth 1.0, which authkernel does not. Use OAuth 2.0 of the same service: its users keep their ids there if the service says so.`,
    )
  const { wellKnown, issuer } = all
  const isOidc = all['idToken'] === true
  const found = typeof wellKnown === 'string' && wellKnown.endsWith(discovery) ? wellKnown.slice(0, -discovery.length) : undefined
  const converted = bothLevels(provider, (fields) => convertFields(fields, id, announce))
  // The issuer is what ID tokens are compared with.
  return { ...converted, type: isOidc ? 'oidc' : 'oauth', ...(isOidc && issuer === undefined && found !== undefined && { issuer: found }) }
}

/** Without the members that only version 4 has. */
function convertFields(fields: Fields, id: string, announce: Announce): Fields {
  const { version: _version, idToken: _idToken, style: _style, httpOptions, checks, token, userinfo, ...same } = fields
  if (httpOptions !== undefined)
    announce(
      `Provider "${id}": \`httpOptions\` has no effect. Set \`deadlines.network\`, or \`[customFetch]\` of the provider for a proxy.`,
    )
  for (const [name, endpoint] of Object.entries({ token, userinfo }))
    if (isFields(endpoint) && typeof endpoint['request'] === 'function')
      announce(`Provider "${id}": \`${name}.request\` gets no \`client\` of openid-client. It gets \`fetch\` in its place.`)
  return {
    ...same,
    ...(checks !== undefined && { checks: [checks].flat() }),
    ...(token !== undefined && { token }),
    ...(userinfo !== undefined && { userinfo }),
  }
}

type Authorize = (credentials: Fields, request: object) => unknown

/** `authorize` gets the request in the form of version 4, and what it throws reaches the form. */
function convertCredentials(fields: Fields): Fields {
  const { authorize } = fields
  if (typeof authorize !== 'function') return fields
  const convert = async (credentials: Fields, request: Request): Promise<unknown> => {
    const query = Object.fromEntries(new URL(request.url).searchParams)
    const headers = Object.fromEntries(request.headers)
    try {
      return await (authorize as Authorize)(credentials, { query, body: credentials, headers, method: request.method })
    } catch (error) {
      throw isWordForUser(error) ? wrongCredentials(error) : error
    }
  }
  return { ...fields, authorize: convert }
}

/** `throw new Error('Wrong password')` is a text for the user. An error of a class of its own, or with a code or a cause, is a failure, and its text may tell secrets. */
function isWordForUser(error: unknown): error is Error {
  if (!(error instanceof Error) || Object.getPrototypeOf(error) !== Error.prototype) return false
  return error.message !== '' && error.message.length <= longestMessage && Object.keys(error).length === 0 && error.cause === undefined
}

function wrongCredentials(error: Error): CredentialsSignin {
  const failure = new CredentialsSignin(error.message)
  failure.code = error.message
  return failure
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null
}
