/** For authors of bindings: the parts that ours are made of, for frameworks that speak web requests (`docs/writing-a-binding.md`). */
export type { Argument } from './_shared/web-api.ts'
export type { GuardOptions, SignInOptions } from './_shared/actions.ts'
export { type ConfigSource, type Kernels, kernelsOf, withBasePath } from './_shared/kernels.ts'
export { type FormRequest, readForm } from './_shared/form.ts'
export { mountedAt } from './_shared/mount.ts'
export { cookiesOf, type SetCookie } from './_shared/set-cookie.ts'
export { createWebApi, type WebApi, type WebSeam } from './_shared/web-api.ts'
