/** Payloads of hooks and events are typed once, by the plugin that declares them: renaming a hook or a field breaks each handler. */
import { createAuth } from 'authkernel'
import type { AnyContext, Kernel } from 'authkernel/kernel'
import type { ApiKey } from 'authkernel/plugins/api-keys'
import type { OrganizationAct } from 'authkernel/plugins/organizations'
import { describe, expectTypeOf, it } from 'vitest'

const auth = createAuth()
const kernel = {} as Kernel

describe('a hook or event of a plugin that may be absent', () => {
  it('has the types of the plugin that declares it', () => {
    kernel.hook('apiKey', ({ key, ctx }) => (expectTypeOf(key).toEqualTypeOf<ApiKey>(), expectTypeOf(ctx).toExtend<AnyContext>(), true), {
      of: 'api-keys',
    })
    kernel.on('organizationChanged', ({ act }) => expectTypeOf(act).toEqualTypeOf<OrganizationAct>(), { of: 'organizations' })
    auth.hook('invitation', ({ email }) => (expectTypeOf(email).toEqualTypeOf<string>(), true), { of: 'organizations' })
    auth.on('codesGuessed', ({ plugin }) => expectTypeOf(plugin).toEqualTypeOf<string>(), { of: ['codes', 'phone'] })
  })

  it('refuses a name that was never declared, as soon as the handler reads the message', () => {
    // @ts-expect-error misspelt: the message of an unknown hook has no members
    kernel.hook('apiKeys', ({ key }) => key !== undefined, { of: 'api-keys' })
    // @ts-expect-error misspelt: the message of an unknown event has no members
    kernel.on('organizationChange', ({ act }) => act, { of: 'organizations' })
    // @ts-expect-error without `of` only declared hooks
    auth.hook('sginIn', () => true)
    // @ts-expect-error without `of` only declared events
    auth.on('sginIn', () => true)
  })

  it('refuses a field that was renamed', () => {
    // @ts-expect-error the field is `key`
    kernel.hook('apiKey', ({ apiKey }) => apiKey !== undefined, { of: 'api-keys' })
    // @ts-expect-error the field is `act`
    kernel.on('organizationChanged', ({ action }) => action, { of: 'organizations' })
  })

  it('refuses a payload that was copied by hand and differs', () => {
    // @ts-expect-error `key` is no text
    kernel.hook('apiKey', ({ key }: { key: string }) => key !== '', { of: 'api-keys' })
    // @ts-expect-error `act` is no number
    kernel.on('organizationChanged', ({ act }: { act: number }) => act, { of: 'organizations' })
  })

  it('takes names that no types are here for, with the types of the handler', () => {
    kernel.hook('gateOpens', ({ gate }: { gate: string }) => gate !== 'back', { of: 'gates' })
    kernel.on('gateOpened', ({ gate }: { gate: string }) => gate, { of: 'gates' })
  })
})
