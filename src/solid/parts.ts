/** Ready-made parts without styles: they draw what the server offers. `authkernel/parts.css` gives them the look of the built-in pages. */
import {
  type AccountPageProps,
  type ApiKeysProps,
  createAccountPage,
  createApiKeys,
  createOrganizationPage,
  createOrganizationSwitcher,
  createProtect,
  createSignIn,
  createSignUp,
  createUserButton,
  type OrganizationPageProps,
  type OrganizationSwitcherProps,
  type PartInstance,
  type PartNode,
  type PartProps,
  type ProtectDemand,
  type SignInProps,
  type UserButtonProps,
} from 'authkernel/parts'
import type { PageClient } from 'authkernel/client'
import {
  type Component,
  createComponent,
  createEffect,
  createRenderEffect,
  createSignal,
  createUniqueId,
  type JSX,
  on,
  onCleanup,
  onMount,
} from 'solid-js'
import { createStore, reconcile } from 'solid-js/store'
import { NodeView } from './draw.ts'
import { usePageClient } from './session.ts'

/** Properties of `Protect`. `A`: the type of the client, so that permissions are those of the server. */
export interface ProtectProps<A = unknown> extends ProtectDemand<A> {
  /** For users who have what is asked for. */
  children?: JSX.Element
  /** For all others; default: nothing. */
  fallback?: JSX.Element
  /** Until the server has answered; default: nothing. */
  pending?: JSX.Element
}

/** Sign-in with one field for the address or name, then the methods that fit: password, code, link, passkey, providers, second factor. */
export const SignIn: Component<SignInProps> = /* @__PURE__ */ definePart(createSignIn)
/** Registration by the methods that the server offers. */
export const SignUp: Component<SignInProps> = /* @__PURE__ */ definePart(createSignUp)
/** Who is signed in, with a way to the account and out; else a button that leads to the sign-in page. */
export const UserButton: Component<UserButtonProps> = /* @__PURE__ */ definePart(createUserButton)
/** The account: profile, email, password, sign-in methods, second factor, sessions, data. Shows `SignIn` to signed-out visitors. */
export const AccountPage: Component<AccountPageProps> = /* @__PURE__ */ definePart(createAccountPage)
/** The organization that the user acts for, with a menu to change it. */
export const OrganizationSwitcher: Component<OrganizationSwitcherProps> = /* @__PURE__ */ definePart(createOrganizationSwitcher)
/** Members, invitations and settings of an organization. Shows `SignIn` to signed-out visitors. */
export const OrganizationPage: Component<OrganizationPageProps> = /* @__PURE__ */ definePart(createOrganizationPage)
/** The API keys of the user. Shows `SignIn` to signed-out visitors. */
export const ApiKeys: Component<ApiKeysProps> = /* @__PURE__ */ definePart(createApiKeys)

/** Shows its children to users who have what is asked for. It hides; the server must reject. */
export function Protect<A = unknown>(props: ProtectProps<A>): JSX.Element {
  const shared = usePageClient()
  const [state, setState] = createSignal(createProtect(shared, props).getInitial())
  let stop: (() => void) | undefined
  const start = (): void => {
    stop?.()
    const { permission, organization, role, when } = props
    const store = createProtect(shared, { permission, organization, role, when })
    stop = store.subscribe(() => setState(store.get()))
    setState(store.get())
  }
  onMount(() => createEffect(on(() => [props.permission, props.organization, props.role], start)))
  onCleanup(() => stop?.())
  // A function is read again when the state changes.
  return (() => (state() === 'allowed' ? props.children : state() === 'refused' ? props.fallback : props.pending)) as unknown as JSX.Element
}

function definePart<P extends PartProps>(create: (page: PageClient, id: string, readProps: () => P) => PartInstance<P>): Component<P> {
  return (props) => {
    const part = create(usePageClient(), createUniqueId(), () => props)
    const [state, setState] = createSignal(part.getInitial(), { equals: false })
    const [mounted, setMounted] = createSignal(false)
    const [tree, setTree] = createStore<{ root: PartNode }>({ root: part.view(part.getInitial(), props) })
    createRenderEffect(() => setTree('root', reconcile(part.view(state(), props), { key: 'key', merge: true })))
    onMount(() => {
      setMounted(true)
      onCleanup(part.subscribe(() => setState(() => part.get())))
      setState(() => part.get())
    })
    const draw = (): JSX.Element =>
      createComponent(NodeView, {
        get node() {
          return tree.root
        },
      })
    // A server draws nothing, and a page that takes over its markup finds nothing to differ from. A function is read again when the state changes.
    return (() => mounted() && draw()) as unknown as JSX.Element
  }
}
