/** The two plugins differ in the type they stand for. */
import { InvalidProvider, type Kernel, type Plugin, type ProviderOf } from 'authkernel/kernel'
import { registerChecks } from './checks.ts'
import { oauthFlow } from './flow.ts'

type Optional<C> = C extends { type: infer T } ? Omit<C, 'type' | 'name'> & { type?: T; name?: string | undefined } : never
/** Options of one OAuth 2.0 provider; `name` defaults to the id. */
export type OAuthInput = Optional<ProviderOf<'oauth'>>
/** Options of one OpenID Connect provider; `name` defaults to the id. */
export type OIDCInput = Optional<ProviderOf<'oidc'>>

/** A plugin that registers a type and adds providers of it. */
export function pluginOf<T extends 'oauth' | 'oidc', I extends OAuthInput | OIDCInput>(
  type: T,
  providers: readonly (I | (() => I))[],
): Plugin<void> {
  const complete = (input: I): never => {
    const given: string = input.type ?? type
    if (given !== type)
      throw new InvalidProvider(`${type}Plugin() was given provider "${input.id}" of type "${given}". Give it to ${given}Plugin().`)
    return { ...input, type } as never
  }
  const ids = providers.map((provider) => (typeof provider === 'function' ? provider() : provider).id)
  return {
    name: ids.length === 0 ? type : `${type}:${ids.join(',')}`,
    setup(kernel: Kernel): void {
      // The flow takes providers of either type.
      kernel.providerType(type, oauthFlow as never)
      registerChecks(kernel)
      for (const provider of providers) kernel.provider(typeof provider === 'function' ? () => complete(provider()) : complete(provider))
    },
  }
}
