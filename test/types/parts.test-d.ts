/** The parts are typed by the server: permissions, texts and properties. */
import { createAuth } from 'authkernel'
import { createAuthClient } from 'authkernel/client'
import type { PartTexts } from 'authkernel/parts'
import { organizationsPlugin } from 'authkernel/plugins/organizations'
import { passwordsPlugin } from 'authkernel/plugins/passwords'
import { Protect, type ProtectProps, SessionProvider, SignIn, useAuthClient } from 'authkernel/react'
import { createElement as h } from 'react'
import { describe, expectTypeOf, it } from 'vitest'

const auth = createAuth()
  .use(organizationsPlugin({ statements: { project: ['create'] } }))
  .use(passwordsPlugin())
const client = createAuthClient<typeof auth>()

describe('parts', () => {
  it('take a client of createAuthClient, and hand it on with its type', () => {
    h(SessionProvider, { client })
    expectTypeOf(useAuthClient<typeof client>().passwords.getRule).returns.resolves.toEqualTypeOf<{
      minLength: number
      maxLength: number
    }>()
  })

  it('know their properties and the names of texts', () => {
    h(SignIn, { redirectTo: '/inside', texts: { 'signIn.title': 'Hello', 'error.Own': 'Own', 'label.company': 'Company' } })
    // @ts-expect-error no such property
    h(SignIn, { redirect: '/inside' })
    // @ts-expect-error no such text
    const texts: PartTexts = { 'signIn.titel': 'Hello' }
    expectTypeOf(texts).toEqualTypeOf<PartTexts>()
  })

  it('Protect refuses a permission that the server does not declare', () => {
    h(Protect<typeof client>, { permission: 'project:create' })
    // @ts-expect-error a permission that no statement has
    h(Protect<typeof client>, { permission: 'project:crate' })
  })

  it('Protect knows the permissions of the server', () => {
    expectTypeOf<ProtectProps<typeof client>['permission']>().toEqualTypeOf<
      Parameters<typeof client.organizations.hasPermission>[0]['permission'] | undefined
    >()
    expectTypeOf<ProtectProps['permission']>().toEqualTypeOf<string | undefined>()
  })
})
