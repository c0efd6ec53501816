/** For authors of bindings: the parts that ours are made of, for frameworks that speak web requests (`docs/writing-a-binding.md`). */
export type { Argument } from './_argument.ts'
export type { GuardOptions, SignInOptions } from './_actions.ts'
export { type ConfigSource, type Kernels, kernelsOf, withBasePath } from './_configs.ts'
export { type FormRequest, readForm } from './_form.ts'
export { mountedAt } from './_mounted.ts'
export { cookiesOf, type SetCookie } from './_set-cookie.ts'
export { createWebApi, type WebApi, type WebSeam } from './_web.ts'
