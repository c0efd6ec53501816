/** What a preset must send and make: the facts, with every difference from them listed here and explained. */
import { fill, type Fact, inWords, mappedUser } from './_facts.ts'
import { profileIn, type Sample } from './_samples.ts'

export const clientId = 'client-1'
export const clientSecret = 'secret-of-the-client'
export const accessToken = 'access-token-1'

/** A request as it must arrive. */
export interface Wire {
  method: 'GET' | 'POST'
  /** Without query. */
  url: string
  query: Record<string, string>
  headers: Record<string, string>
  /** Headers that must not be sent. */
  without: string[]
  body?: unknown
}

/** Values that placeholders of the facts stand for. */
export function valuesOf(fact: Fact, { options }: Sample): Record<string, unknown> {
  const issuer = fill(fact.issuer ?? undefined, { clientId, ...options })
  return { clientId, clientSecret, issuer, membershipId: '4611', ...options }
}

/** Where people are sent; the stub's discovery document says the same where the facts name no URL. */
export function authorizationUrl(fact: Fact, values: Record<string, unknown>): string {
  return fill(fact.authorization?.url ?? '{issuer}/oauth/authorize', slashless(fact, values))
}

/** Parameters of the authorization request beside the protocol's own. */
export function authorizationParams(fact: Fact, values: Record<string, unknown>): Record<string, string> {
  const params: Record<string, string> = {}
  // The core of Auth.js adds an OpenID scope to plain OAuth providers, and "undefined" for dribbble: neither is sent.
  const madeUp = (fact.type === 'oauth' && fact.scopeIsDefault) || fact.scope === 'undefined'
  if (!madeUp) params['scope'] = fact.scope
  for (const [name, value] of Object.entries(fact.authorization?.params ?? {})) {
    if (value === null) continue
    params[name] = typeof value === 'object' ? JSON.stringify(value) : fill(String(value), values)
  }
  return { ...params, ...differences[fact.id]?.authorization }
}

/** The token request; undefined where the facts name no URL: discovery. */
export function tokenRequest(
  fact: Fact,
  values: Record<string, unknown>,
): { url: string; query: Record<string, string>; body: Record<string, string> } | undefined {
  const url = differences[fact.id]?.tokenUrl ?? fact.token?.url
  if (!url) return undefined
  const { body = {} } = differences[fact.id]?.token ?? {}
  const query = differences[fact.id]?.token ? {} : fillAll(fact.token?.params, values)
  return { url: fill(url, slashless(fact, values)), query, body: fillAll(body, values) }
}

/** The userinfo request of a plain OAuth provider. */
export function userinfoRequest(fact: Fact, values: Record<string, unknown>): Wire {
  const wire: Wire = {
    method: 'GET',
    url: fill(fact.userinfo?.url ?? '', slashless(fact, values)),
    query: fillAll(fact.userinfo?.params, values),
    headers: { authorization: `Bearer ${accessToken}` },
    without: [],
  }
  return { ...wire, ...differences[fact.id]?.userinfo?.(wire, values) }
}

/** The user that an answer must become. `broken` and in words: see the tests. */
export function expectedUser(
  fact: Fact,
  answer: Record<string, unknown>,
  sample: Sample,
  values: Record<string, unknown>,
): Record<string, unknown> {
  const profile = profileIn(answer, sample)
  const tokens: Record<string, unknown> = { access_token: accessToken, ...sample.tokens }
  // VK's own request folds the address of the token answer into the profile.
  const folded = fact.id === 'vk' ? { ...profile, email: tokens['email'] ?? null } : profile
  const user = { ...mappedUser(fact, folded, tokens, { ...values }), ...differences[fact.id]?.user?.(profile as never) }
  for (const [key, value] of Object.entries(user)) if (value === inWords) throw new Error(`${fact.id}: write down what ${key} must be`)
  return user
}

type Texts = Record<string, string | undefined>

interface Difference {
  why: string
  authorization?: Record<string, string>
  tokenUrl?: string
  token?: { body: Record<string, string> }
  userinfo?: (wire: Wire, values: Record<string, unknown>) => Partial<Wire>
  user?: (profile: never) => Record<string, unknown>
}

const bearer = { authorization: `Bearer ${accessToken}` }
const photo = 'data:image/jpeg;base64,/9j/'

/** Own requests that the facts describe in words, and what is better here than in Auth.js. */
export const differences: Record<string, Difference> = {
  'azure-ad': { why: 'the photo, without the blank in its data: URL', user: () => ({ image: photo }) },
  'microsoft-entra-id': { why: 'the photo, without the blank in its data: URL', user: () => ({ image: photo }) },
  'azure-devops': {
    why: 'token.request is honoured, at the token URL that Microsoft documents; no avatar, no broken data: URL',
    tokenUrl: 'https://app.vssps.visualstudio.com/oauth2/token',
  },
  bungie: {
    why: 'the placeholder of the userinfo URL is filled and the API key sent',
    userinfo: ({ headers }) => ({ headers: { ...headers, 'x-api-key': 'api-key' } }),
    user: ({ Response: { bungieNetUser: user } }: { Response: { bungieNetUser: { profilePicturePath?: string } } }) => ({
      image: user.profilePicturePath ? `https://www.bungie.net/${user.profilePicturePath}` : null,
    }),
  },
  'click-up': {
    why: 'the picture is the image too',
    user: ({ user }: { user: { profilePicture: string | null } }) => ({ image: user.profilePicture }),
  },
  discord: {
    why: 'computed avatar',
    user: ({ id, avatar }: Texts) => ({
      image: avatar ? `https://cdn.discordapp.com/avatars/${id}/${avatar}.gif` : 'https://cdn.discordapp.com/embed/avatars/2.png',
    }),
  },
  dropbox: { why: 'own request', userinfo: () => ({ method: 'POST', body: '' }) },
  eveonline: {
    why: 'the image server that replaced the old one',
    user: ({ CharacterID: id }: Texts) => ({ image: `https://images.evetech.net/characters/${id}/portrait?size=128` }),
  },
  figma: { why: 'files:read is deprecated by Figma', authorization: { scope: 'current_user:read' } },
  foursquare: {
    why: 'own request',
    userinfo: ({ query }) => ({ query: { ...query, v: '20230131', oauth_token: accessToken }, headers: {}, without: ['authorization'] }),
  },
  github: { why: 'own request', userinfo: () => ({ headers: { ...bearer, 'user-agent': 'authkernel' } }) },
  hubspot: {
    why: 'own request',
    userinfo: ({ url }) => ({ url: `${url}/${accessToken}`, headers: { 'content-type': 'application/json' }, without: ['authorization'] }),
  },
  linear: {
    why: 'GraphQL',
    userinfo: () => ({ method: 'POST', body: { query: 'query { viewer { id name displayName email avatarUrl active } }' } }),
  },
  mailru: {
    why: 'the picture is in `image`, which the default mapping does not read',
    user: ({ name, nickname, image }: Texts) => ({ name: name ?? nickname, image }),
  },
  nextcloud: {
    why: 'own request',
    userinfo: ({ url }) => ({ url: `${url}/ada`, headers: { ...bearer, 'ocs-apirequest': 'true', accept: 'application/json' } }),
  },
  notion: {
    why: 'own request; the redirect_uri is that of the flow unless an option gives another',
    authorization: { redirect_uri: 'https://app.example/auth/callback/notion' },
    userinfo: () => ({ url: 'https://api.notion.com/v1/users/me', headers: { ...bearer, 'notion-version': '2022-06-28' } }),
  },
  paypal: {
    why: 'the first address when none is called primary',
    user: ({ emails }: { emails?: { value: string }[] }) => ({ email: emails?.[0]?.value }),
  },
  reddit: { why: 'the picture is in `icon_img`', user: ({ icon_img: image }: Texts) => ({ image: image?.replace('&amp;', '&') }) },
  threads: { why: 'a missing picture does not break the sign-in' },
  tiktok: { why: 'client_key in the body, as data', token: { body: { client_key: '{clientId}' } } },
  todoist: {
    why: 'own request, at the successor of the endpoint that was switched off',
    userinfo: () => ({
      method: 'POST',
      url: 'https://api.todoist.com/api/v1/sync',
      body: { sync_token: '*', resource_types: '["user"]' },
    }),
  },
  trakt: {
    why: 'own request',
    userinfo: () => ({ headers: { ...bearer, 'trakt-api-version': '2', 'trakt-api-key': clientId } }),
  },
  'vk-id': {
    why: 'forms',
    userinfo: () => ({ method: 'POST', headers: {}, body: { client_id: clientId, access_token: accessToken } }),
  },
  wechat: {
    why: 'own request',
    userinfo: () => ({
      query: { access_token: accessToken, openid: 'open-1', lang: 'zh_CN' },
      headers: {},
      without: ['authorization'],
    }),
  },
}

function fillAll(params: Record<string, unknown> | undefined, values: Record<string, unknown>): Record<string, string> {
  return Object.fromEntries(Object.entries(params ?? {}).map(([name, value]) => [name, String(fill(value, values))]))
}

// Osso's facts concatenate without a slash: there the issuer keeps its own.
function slashless({ id }: Fact, values: Record<string, unknown>): Record<string, unknown> {
  return id === 'osso' ? values : { ...values, issuer: String(values['issuer']).replace(/\/$/, '') }
}
