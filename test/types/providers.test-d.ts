/** What the presets ask of a host, and what they give to its callbacks. */
import { createAuth } from 'authkernel'
import auth0, { type Auth0Options } from 'authkernel/providers/auth0'
import cognito, { type CognitoOptions } from 'authkernel/providers/cognito'
import github, { type GitHubProfile, github as named } from 'authkernel/providers/github'
import google, { type GoogleProfile } from 'authkernel/providers/google'
import keycloak, { type KeycloakOptions } from 'authkernel/providers/keycloak'
import mastodon, { type MastodonOptions } from 'authkernel/providers/mastodon'
import microsoftEntraId from 'authkernel/providers/microsoft-entra-id'
import netsuite, { type NetSuiteOptions } from 'authkernel/providers/netsuite'
import { oauthPlugin } from 'authkernel/plugins/oauth'
import { oidcPlugin } from 'authkernel/plugins/oidc'
import { describe, expectTypeOf, it } from 'vitest'

const env: Record<string, string | undefined> = {}

describe('providers', () => {
  it('are accepted in the config, by the plugins, and uncalled', () => {
    createAuth({ providers: [github(), google({}), github, auth0({ domain: 'acme.auth0.com' })] })
    // The environment may bring their issuers.
    createAuth({ providers: [auth0, cognito, keycloak({ name: 'Staff' }), mastodon({ issuer: env['ISSUER'] })] })
    createAuth().use(oauthPlugin(github())).use(oidcPlugin(google()))
    expectTypeOf(named).toEqualTypeOf(github)
  })

  it('take values of the environment as they are', () => {
    expectTypeOf(github).toBeCallableWith({ clientId: env['ID'], clientSecret: env['SECRET'] })
    expectTypeOf(microsoftEntraId).toBeCallableWith({ clientId: env['ID'], tenantId: env['TENANT'], allowedTenants: ['a'] })
    expectTypeOf(auth0).toBeCallableWith({ issuer: 'https://acme.auth0.com', clientId: env['ID'] })
  })

  it('demand what they cannot do without', () => {
    expectTypeOf<{ domain: string; issuer: string }>().not.toExtend<Auth0Options>()
    expectTypeOf<{ clientId: string }>().toExtend<MastodonOptions>()
    expectTypeOf<{ issuer: string }>().toExtend<MastodonOptions>()
    expectTypeOf<{ realm: string }>().not.toExtend<KeycloakOptions>()
    expectTypeOf<{ realm: string; baseUrl: string }>().toExtend<KeycloakOptions>()
    expectTypeOf<{ region: string }>().not.toExtend<CognitoOptions>()
    expectTypeOf<{ userPoolId: string }>().toExtend<CognitoOptions>()
    expectTypeOf<{ accountID: string }>().not.toExtend<NetSuiteOptions>()
    expectTypeOf<{ issuer: undefined }>().toExtend<MastodonOptions>()
    expectTypeOf<{ issuer: number }>().not.toExtend<MastodonOptions>()
    expectTypeOf([keycloak, cognito, mastodon, netsuite]).toBeArray()
  })

  it('type the profile of callbacks', () => {
    github({
      profile(profile) {
        expectTypeOf(profile).toEqualTypeOf<GitHubProfile>()
        expectTypeOf(profile.id).toEqualTypeOf<number | undefined>()
        return { id: String(profile.id), name: profile.login }
      },
    })
    google({
      profile(profile, tokens, { fetch }) {
        expectTypeOf(profile).toEqualTypeOf<GoogleProfile>()
        expectTypeOf(profile.hd).toEqualTypeOf<string | undefined>()
        expectTypeOf(tokens.access_token).toEqualTypeOf<string | undefined>()
        expectTypeOf(fetch).toEqualTypeOf<typeof globalThis.fetch>()
        return { id: profile.sub, email: profile.email }
      },
    })
  })
})
