/** Netlify functions: the second argument has the address of the client. */
import { createAuth } from 'authkernel'
import { NetlifyAuth, netlifyBinding } from 'authkernel/bindings/netlify'
import { bindingConfig, testBinding } from 'authkernel/testing'
import { startHost } from './_hosts.ts'

/** What the host does to a request, and the second argument that it gives. */
const enter = (_headers: Headers, ip: string): unknown => ({ ip, geo: {} })

testBinding({ name: 'netlify', start: (more) => startHost(createAuth(bindingConfig(more)).use(netlifyBinding()).netlify, enter) })
testBinding({
  name: 'netlify, options by a function',
  start: (more) =>
    startHost(
      NetlifyAuth(() => bindingConfig(more)),
      enter,
    ),
})
