import { it, expect } from 'vitest'
import { createAuth } from 'authkernel'
it('smoke', async () => {
  const auth = createAuth({
    secret: 'x'.repeat(40),
    trustHost: true,
    providers: [
      {
        id: 'github',
        name: 'GitHub',
        type: 'oauth',
        clientId: 'a',
        clientSecret: 'b',
        authorization: 'https://github.com/a',
        token: 'https://github.com/t',
        userinfo: 'https://api.github.com/u',
      },
      {
        id: 'credentials',
        name: 'Password',
        type: 'credentials',
        credentials: { username: { label: 'Username' }, password: { label: 'Password', type: 'password' } },
        authorize: () => null,
      },
    ],
  })
  for (const path of [
    'signin?error=CredentialsSignin&callbackUrl=/x',
    'signout',
    'error?error=AccessDenied',
    'verify-request?provider=x',
  ]) {
    const r = await auth.handler(new Request('http://localhost/auth/' + path))
    console.log(r.status, Object.fromEntries(r.headers), (await r.text()).replace(/<style[\s\S]*?<\/style>/, ''))
  }
})
