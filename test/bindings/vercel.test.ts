/** Vercel functions: the host overwrites the header with the address of the client. */
import { createAuth } from 'authkernel'
import { VercelAuth, vercelBinding } from 'authkernel/bindings/vercel'
import { bindingConfig, testBinding } from 'authkernel/testing'
import { startHost } from './_hosts.ts'

/** What the host does to a request, and the second argument that it gives. */
const enter = (headers: Headers, peer: string): unknown => void headers.set('x-real-ip', peer)

testBinding({ name: 'vercel', start: (more) => startHost(createAuth(bindingConfig(more)).use(vercelBinding()).vercel, enter) })
testBinding({
  name: 'vercel, options by a function',
  start: (more) =>
    startHost(
      VercelAuth(() => bindingConfig(more)),
      enter,
    ),
})
