import type { OAuthConfig, OAuthUserConfig, TokenRequestContext, TokenSet, UserinfoRequestContext } from 'authkernel/kernel'

/** Member `user` of the answer. */
export interface VKIDProfile {
  [field: string]: unknown
  user_id?: string
  first_name?: string
  last_name?: string
  email?: string
  phone?: string
  avatar?: string
  sex?: number
  birthday?: string
  /** Whether the account (not the address) is verified. */
  verified?: boolean
}

/**
 * Sign-in with VK ID. Register: an app, at https://id.vk.com/about/business/go.
 * - The successor of `vk`. Account ids are the same, so existing rows can be renamed from one provider id to the other.
 * - VK names the device in the callback and wants it back at the token endpoint.
 * @see https://id.vk.com/about/business/go/docs/en/vkid/latest/vk-id/connection/api-integration/api-description
 */
export default function vkId(options: OAuthUserConfig<VKIDProfile> = {}): OAuthConfig<VKIDProfile> {
  return {
    id: 'vk-id',
    name: 'VK ID',
    type: 'oauth',
    authorization: { url: 'https://id.vk.com/authorize', params: { scope: 'vkid.personal_info email' } },
    token: { url: 'https://id.vk.com/oauth2/auth', request: exchangeCode },
    userinfo: { url: 'https://id.vk.com/oauth2/user_info', request: readPerson },
    checks: ['pkce', 'state'],
    profile: (profile) => ({
      id: String(profile.user_id),
      name: [profile.first_name, profile.last_name].filter(Boolean).join(' ') || null,
      email: profile.email,
      image: profile.avatar,
    }),
    style: { brandColor: '#0077ff', logo },
    options,
  }
}
export { vkId }

async function exchangeCode(context: TokenRequestContext): Promise<{ tokens: TokenSet }> {
  const { params, checks, redirectUri, provider } = context
  const tokens = await postForm(context.fetch, 'https://id.vk.com/oauth2/auth', {
    grant_type: 'authorization_code',
    code: params['code'],
    code_verifier: checks.code_verifier,
    client_id: provider.clientId,
    device_id: params['device_id'],
    redirect_uri: redirectUri,
    state: params['state'],
  })
  return { tokens }
}

async function readPerson({ tokens, provider, fetch }: UserinfoRequestContext): Promise<VKIDProfile> {
  const body = { client_id: provider.clientId, access_token: tokens.access_token }
  const { user } = await postForm(fetch, 'https://id.vk.com/oauth2/user_info', body)
  return (user ?? {}) as VKIDProfile
}

async function postForm(fetch: typeof globalThis.fetch, url: string, body: Record<string, string | undefined>): Promise<TokenSet> {
  const response = await fetch(url, {
    method: 'POST',
    body: new URLSearchParams(Object.entries(body).map(([key, value]) => [key, value ?? ''])),
  })
  const answer = (await response.json()) as TokenSet
  // VK ID answers errors with status 200.
  if (!response.ok || answer['error'])
    throw new Error(`Provider "vk-id": ${url} answered ${response.status} ${String(answer['error'] ?? '')}`)
  return answer
}

const logo =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" fill="currentColor" aria-hidden="true"><path d="m9.489.004.729-.003h3.564l.73.003.914.01.433.007.418.011.403.014.388.016.374.021.36.025.345.03.333.033c1.74.196 2.933.616 3.833 1.516.9.9 1.32 2.092 1.516 3.833l.034.333.029.346.025.36.02.373.025.588.012.41.013.644.009.915.004.98-.001 3.313-.003.73-.01.914-.007.433-.011.418-.014.403-.016.388-.021.374-.025.36-.03.345-.033.333c-.196 1.74-.616 2.933-1.516 3.833-.9.9-2.092 1.32-3.833 1.516l-.333.034-.346.029-.36.025-.373.02-.588.025-.41.012-.644.013-.915.009-.98.004-3.313-.001-.73-.003-.914-.01-.433-.007-.418-.011-.403-.014-.388-.016-.374-.021-.36-.025-.345-.03-.333-.033c-1.74-.196-2.933-.616-3.833-1.516-.9-.9-1.32-2.092-1.516-3.833l-.034-.333-.029-.346-.025-.36-.02-.373-.025-.588-.012-.41-.013-.644-.009-.915-.004-.98.001-3.313.003-.73.01-.914.007-.433.011-.418.014-.403.016-.388.021-.374.025-.36.03-.345.033-.333c.196-1.74.616-2.933 1.516-3.833.9-.9 2.092-1.32 3.833-1.516l.333-.034.346-.029.36-.025.373-.02.588-.025.41-.012.644-.013.915-.009ZM6.79 7.3H4.05c.13 6.24 3.25 9.99 8.72 9.99h.31v-3.57c2.01.2 3.53 1.67 4.14 3.57h2.84c-.78-2.84-2.83-4.41-4.11-5.01 1.28-.74 3.08-2.54 3.51-4.98h-2.58c-.56 1.98-2.22 3.78-3.8 3.95V7.3H10.5v6.92c-1.6-.4-3.62-2.34-3.71-6.92Z"/></svg>'
