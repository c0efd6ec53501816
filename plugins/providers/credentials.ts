import type { CredentialsConfig, InputAttributes, ProviderOf } from 'authkernel/kernel'

/** Sign-in by what you check yourself: `authorize` gets the fields and gives the user, or null. */
export default function credentials<C extends Record<string, InputAttributes> = Record<string, InputAttributes>>(
  options: Partial<Omit<CredentialsConfig<C>, 'type' | 'options'>>,
): ProviderOf<'credentials'> {
  return { id: 'credentials', name: 'Credentials', type: 'credentials', options: options as ProviderOf<'credentials'>['options'] }
}
export { credentials }
