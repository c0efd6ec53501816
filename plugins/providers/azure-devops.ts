import type { OAuthConfig, OAuthUserConfig, TokenRequestContext, TokenSet } from 'authkernel/kernel'

/** Answer of the userinfo endpoint. */
export interface AzureDevOpsProfile {
  [field: string]: unknown
  id?: string
  displayName?: string
  emailAddress?: string
  coreAttributes?: { Avatar?: { value?: { value?: string } } }
}

/**
 * Sign-in with Azure DevOps. Register: registration is closed.
 * - The code is exchanged as an assertion, with the client secret as the client assertion.
 * @deprecated no registrations since 2025-04, to be removed in 2026; the successor is `microsoft-entra-id`
 * @see https://learn.microsoft.com/azure/devops/integrate/get-started/authentication/azure-devops-oauth
 */
export default function azureDevops(options: OAuthUserConfig<AzureDevOpsProfile> = {}): OAuthConfig<AzureDevOpsProfile> {
  return {
    id: 'azure-devops',
    name: 'Azure DevOps',
    type: 'oauth',
    authorization: {
      url: 'https://app.vssps.visualstudio.com/oauth2/authorize',
      params: { response_type: 'Assertion', scope: options.scope ?? 'vso.profile' },
    },
    token: { url: 'https://app.vssps.visualstudio.com/oauth2/token', request: exchangeAssertion },
    userinfo: {
      url: 'https://app.vssps.visualstudio.com/_apis/profile/profiles/me',
      params: { details: 'true', coreAttributes: 'Avatar', 'api-version': '6.0' },
    },
    profile: (profile) => {
      const avatar = profile.coreAttributes?.Avatar?.value?.value
      return {
        id: profile.id,
        name: profile.displayName,
        email: profile.emailAddress,
        image: avatar ? `data:image/jpeg;base64,${avatar}` : null,
      }
    },
    options,
  }
}
export { azureDevops }

/** The vendor's own form of RFC 7523: the code is the assertion, the secret the client assertion. */
async function exchangeAssertion({ params, redirectUri, clientSecret, fetch }: TokenRequestContext): Promise<{ tokens: TokenSet }> {
  const response = await fetch('https://app.vssps.visualstudio.com/oauth2/token', {
    method: 'POST',
    body: new URLSearchParams({
      client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
      client_assertion: clientSecret ?? '',
      grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
      assertion: params['code'] ?? '',
      redirect_uri: redirectUri,
    }),
  })
  if (!response.ok) throw new Error(`Provider "azure-devops": the token endpoint answered ${response.status}`)
  // Its own type, `jwt-bearer`, means that the token is used as a bearer token.
  return { tokens: { ...((await response.json()) as TokenSet), token_type: 'bearer' } }
}
