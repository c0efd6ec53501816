/** Authlib, a client in another language: discovery, PKCE, ID token by the published keys, refresh, introspection, revocation, client credentials. */
import { execFile, execFileSync } from 'node:child_process'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Browser, type Listening, listen, type Provider, secret, startProvider } from './_provider.ts'

const python = '/usr/bin/python3'
const hasAuthlib =
  process.env['CI'] !== undefined ||
  (() => {
    try {
      execFileSync(python, ['-c', 'import authlib, requests'], { stdio: 'ignore' })
      return true
    } catch {
      return false
    }
  })()

/** Prints the address for the browser and reads where it was led; then prints what it has. */
const client = `
import json, sys
import requests
from authlib.integrations.requests_client import OAuth2Session
from authlib.jose import JsonWebKey, jwt
from authlib.oidc.core import CodeIDToken
from authlib.common.security import generate_token

issuer, redirect, secret = sys.argv[1:4]
meta = requests.get(issuer + '/.well-known/openid-configuration').json()
session = OAuth2Session('authlib', secret, scope='openid profile email', redirect_uri=redirect, code_challenge_method='S256',
                        token_endpoint_auth_method='client_secret_basic')
verifier, nonce = generate_token(48), generate_token()
url, state = session.create_authorization_url(meta['authorization_endpoint'], code_verifier=verifier, nonce=nonce)
print(url, flush=True)
back = sys.stdin.readline().strip()
tokens = session.fetch_token(meta['token_endpoint'], authorization_response=back, code_verifier=verifier, state=state)
keys = JsonWebKey.import_key_set(requests.get(meta['jwks_uri']).json())
claims = jwt.decode(tokens['id_token'], keys, claims_cls=CodeIDToken,
                    claims_options={'iss': {'essential': True, 'value': meta['issuer']}, 'aud': {'essential': True, 'value': 'authlib'}},
                    claims_params={'nonce': nonce, 'client_id': 'authlib', 'access_token': tokens['access_token']})
claims.validate(leeway=5)
user = session.get(meta['userinfo_endpoint']).json()
fresh = session.refresh_token(meta['token_endpoint'], refresh_token=tokens['refresh_token'])
seen = session.introspect_token(meta['introspection_endpoint'], token=fresh['access_token']).json()
revoked = session.revoke_token(meta['revocation_endpoint'], token=fresh['refresh_token']).status_code
after = session.introspect_token(meta['introspection_endpoint'], token=fresh['access_token']).json()
own = OAuth2Session('authlib', secret, scope='read').fetch_token(meta['token_endpoint'], grant_type='client_credentials')
print(json.dumps({'sub': claims['sub'], 'acr': claims['acr'], 'user': user, 'rotated': fresh['refresh_token'] != tokens['refresh_token'],
                  'seen': seen['active'], 'revoked': revoked, 'after': after, 'own': own['scope']}))
`

describe.skipIf(!hasAuthlib)('Authlib', () => {
  let provider: Provider
  let party: Listening
  beforeAll(async () => {
    party = await listen()
    provider = await startProvider(
      [
        {
          client_id: 'authlib',
          client_name: 'Authlib',
          client_secret: secret,
          redirect_uris: [`${party.origin}/cb`],
          grant_types: ['authorization_code', 'refresh_token', 'client_credentials'],
        },
      ],
      { resources: [{ resource: 'https://api.example/', scopes: ['read'] }] },
    )
    party.answer((_req, res) => res.end('signed in'))
  })
  afterAll(async () => {
    await party?.close()
    await provider?.close()
  })

  it('signs a user in, validates the ID token, refreshes, introspects, revokes, and gets a token for itself', async () => {
    const run = promisify(execFile)(python, ['-c', client, provider.issuer, `${party.origin}/cb`, secret], { timeout: 60_000 })
    const url = await new Promise<string>((resolve, reject) => {
      run.child.stdout?.once('data', (text: string) => resolve(text.trim()))
      run.catch(reject)
    })
    const { url: back } = await new Browser(provider).open(url)
    run.child.stdin?.end(`${back}\n`)
    const { stdout } = await run
    expect(JSON.parse(stdout.trim().split('\n')[1]!)).toEqual({
      sub: 'ada',
      acr: 'urn:authkernel:acr:1fa',
      user: { sub: 'ada', name: 'Ada', email: 'ada@example.com', email_verified: true },
      rotated: true,
      seen: true,
      revoked: 200,
      after: { active: false },
      own: 'read',
    })
    expect(provider.errors).toEqual([])
  })
})
