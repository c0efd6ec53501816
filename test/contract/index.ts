/** `authkernel/testing`: the contracts of authkernel as vitest suites, for whoever writes an adapter, a store-backed service or a plugin. */
export { type TestAdapterOptions, testAdapter } from './adapter.ts'
export { type TestServicesOptions, testServices } from './adapter-services.ts'
export { type TestProviderOptions, testProvider } from './provider.ts'
export { type TestSessionOptions, testSession } from './session.ts'
export { signedIn, type SignedInOptions } from './signed-in.ts'
export { type BindingHost, type BindingPaths, type BindingPerson, type TestBindingOptions, bindingConfig, testBinding } from './binding.ts'
