/** Workers: the edge writes the address of the client into a header. */
import { createAuth } from 'authkernel'
import { CloudflareAuth, cloudflareBinding } from 'authkernel/bindings/cloudflare'
import { bindingConfig, testBinding } from 'authkernel/testing'
import { startHost } from './_hosts.ts'

/** What the host does to a request, and the second argument that it gives. */
const enter = (headers: Headers, peer: string): unknown => (headers.set('cf-connecting-ip', peer), { AUTH_SECRET: 's' })

testBinding({ name: 'cloudflare', start: (more) => startHost(createAuth(bindingConfig(more)).use(cloudflareBinding()).cloudflare, enter) })
testBinding({
  name: 'cloudflare, options by a function',
  start: (more) =>
    startHost(
      CloudflareAuth(() => bindingConfig(more)),
      enter,
    ),
})
