/** `authkernel/vue`: the session for components of Vue 3, and components without styles. */
export { provideSession, sessionPlugin, useAuthClient, type UseSession, useSession } from './session.ts'
export { AccountPage, type PartComponent, SignInForm, UserButton } from './parts.ts'
