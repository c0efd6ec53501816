/** Servers of one's own, tenants, regions and other options: what they change in the data. */
import { describe, expect, it } from 'vitest'
import asgardeo from 'authkernel/providers/asgardeo'
import auth0 from 'authkernel/providers/auth0'
import battlenet from 'authkernel/providers/battlenet'
import cognito from 'authkernel/providers/cognito'
import descope from 'authkernel/providers/descope'
import dribbble from 'authkernel/providers/dribbble'
import entraExternalId from 'authkernel/providers/entra-external-id'
import foursquare from 'authkernel/providers/foursquare'
import fusionauth from 'authkernel/providers/fusionauth'
import github from 'authkernel/providers/github'
import gitlab from 'authkernel/providers/gitlab'
import keycloak from 'authkernel/providers/keycloak'
import netsuite from 'authkernel/providers/netsuite'
import notion from 'authkernel/providers/notion'
import okta from 'authkernel/providers/okta'
import onelogin from 'authkernel/providers/onelogin'
import paypal from 'authkernel/providers/paypal'
import webex from 'authkernel/providers/webex'
import wechat from 'authkernel/providers/wechat'
import workos from 'authkernel/providers/workos'
import zitadel from 'authkernel/providers/zitadel'
import zoho from 'authkernel/providers/zoho'

describe('issuers from short options', () => {
  it.each([
    ['auth0 domain', auth0({ domain: 'acme.eu.auth0.com' }), 'https://acme.eu.auth0.com/'],
    ['okta domain', okta({ domain: 'acme.okta.com' }), 'https://acme.okta.com'],
    ['zitadel domain', zitadel({ domain: 'acme.zitadel.cloud' }), 'https://acme.zitadel.cloud'],
    ['keycloak realm', keycloak({ baseUrl: 'https://sso.acme.example/', realm: 'people' }), 'https://sso.acme.example/realms/people'],
    ['cognito pool', cognito({ userPoolId: 'eu-west-1_Ab12' }), 'https://cognito-idp.eu-west-1.amazonaws.com/eu-west-1_Ab12'],
    [
      'cognito pool and region',
      cognito({ userPoolId: 'eu-west-1_Ab12', region: 'eu-west-1' }),
      'https://cognito-idp.eu-west-1.amazonaws.com/eu-west-1_Ab12',
    ],
    ['battlenet', battlenet({ region: 'eu' }), 'https://oauth.battle.net'],
    ['battlenet in China', battlenet({ region: 'cn' }), 'https://oauth.battlenet.com.cn'],
    ['entra-external-id', entraExternalId({ tenantId: 't-1' }), 'https://t-1.ciamlogin.com/t-1/v2.0'],
  ])('%s', (_, { issuer }, expected) => {
    expect(issuer).toBe(expected)
  })
})

describe("servers of one's own", () => {
  it('GitHub Enterprise Server', () => {
    const preset = github({ enterprise: { baseUrl: 'https://github.acme.example/' } })
    expect(preset).toMatchObject({
      issuer: 'https://github.acme.example/login/oauth',
      authorization: { url: 'https://github.acme.example/login/oauth/authorize' },
      token: 'https://github.acme.example/login/oauth/access_token',
      userinfo: { url: 'https://github.acme.example/api/v3/user' },
    })
    expect(github({ enterprise: {} }).token).toBe('https://github.com/login/oauth/access_token')
  })

  it('GitLab Self-Managed', () => {
    expect(gitlab({ baseUrl: 'https://git.acme.example' })).toMatchObject({
      authorization: { url: 'https://git.acme.example/oauth/authorize' },
      token: 'https://git.acme.example/oauth/token',
      userinfo: 'https://git.acme.example/api/v4/user',
    })
  })

  it('Webex, WorkOS, FusionAuth', () => {
    expect(webex({ apiBaseUrl: 'https://webex.acme.example/v1/' }).token).toBe('https://webex.acme.example/v1/access_token')
    expect(workos({ issuer: 'https://workos.acme.example/', connection: 'conn_1' })).toMatchObject({
      authorization: { url: 'https://workos.acme.example/sso/authorize', params: { connection: 'conn_1' } },
      userinfo: 'https://workos.acme.example/sso/profile',
    })
    expect(fusionauth({ issuer: 'https://fa.acme.example', tenantId: 't 1' })).toMatchObject({
      wellKnown: '{issuer}/.well-known/openid-configuration?tenantId=t%201',
      authorization: { params: { tenantId: 't 1' } },
    })
  })
})

describe('other options', () => {
  it.each(['https://api.asgardeo.io/t/acme', 'https://api.asgardeo.io/t/acme/', 'https://api.asgardeo.io/t/acme/oauth2/token'])(
    'asgardeo: %s',
    (issuer) => {
      expect(asgardeo({ issuer })).toMatchObject({
        wellKnown: 'https://api.asgardeo.io/t/acme/oauth2/token/.well-known/openid-configuration',
        discoveryIssuer: ['https://api.asgardeo.io/t/acme/oauth2/token', 'https://api.asgardeo.io/t/acme'],
      })
    },
  )

  it.each(['https://acme.onelogin.com', 'https://acme.onelogin.com/oidc/2'])('onelogin: %s', (issuer) => {
    expect(onelogin({ issuer })).toMatchObject({
      wellKnown: 'https://acme.onelogin.com/oidc/2/.well-known/openid-configuration',
      discoveryIssuer: ['https://acme.onelogin.com/oidc/2', 'https://acme.onelogin.com'],
    })
  })

  it('wechat in a browser', () => {
    expect(wechat({ platformType: 'WebsiteApp' }).authorization).toEqual({
      url: 'https://open.weixin.qq.com/connect/qrconnect',
      params: { appid: '{clientId}', scope: 'snsapi_login' },
    })
  })

  it('dribbble: no scope, or the one given', () => {
    expect(dribbble().scope).toBe('')
    expect(dribbble({ scope: 'public upload' }).options?.scope).toBe('public upload')
  })

  it("descope: an issuer of one's own replaces the one made of the client id", () => {
    expect(descope({ clientId: 'P1' }).discoveryIssuer).toBe('https://api.descope.com/{clientId}')
    expect(descope({ issuer: 'https://auth.acme.example/P1' }).wellKnown).toBeUndefined()
  })

  it('notion: a redirectUri only when given', () => {
    expect(notion().authorization).toMatchObject({ params: { owner: 'user' } })
    expect(JSON.stringify(notion({ redirectUri: 'https://acme.example/back' }).authorization)).toContain(
      '"redirect_uri":"https://acme.example/back"',
    )
  })

  it('paypal sandbox, zoho data centres, foursquare version, netsuite sandbox', () => {
    expect(paypal({ environment: 'sandbox' }).token).toBe('https://api-m.sandbox.paypal.com/v1/oauth2/token')
    expect([zoho().token, zoho({ region: 'eu' }).token, zoho({ region: 'ca' }).token]).toEqual([
      'https://accounts.zoho.com/oauth/v2/token',
      'https://accounts.zoho.eu/oauth/v2/token',
      'https://accounts.zohocloud.ca/oauth/v2/token',
    ])
    expect(foursquare({ apiVersion: '20260101' }).userinfo).toMatchObject({ params: { v: '20260101' } })
    expect(netsuite({ accountID: '1234567_SB1', userinfo: 'https://x.example' }).token).toContain('https://1234567-sb1.suitetalk')
  })
})
