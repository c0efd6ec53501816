'use client'

/** The parts of authkernel with the components of shadcn/ui. This file is yours: change it as you like. */
import {
  AccountPage as Account,
  ApiKeys as Keys,
  OrganizationPage as Organization,
  OrganizationSwitcher as Switcher,
  type PartComponents,
  SignIn as In,
  SignUp as Up,
  UserButton as User,
} from 'authkernel/react'
import type { ComponentProps, ReactNode } from 'react'
import { Button } from '@/components/ui/button'
import { Card, CardContent } from '@/components/ui/card'
import { Input } from '@/components/ui/input'
import { Label } from '@/components/ui/label'

const variants = { primary: 'default', plain: 'outline', danger: 'destructive', quiet: 'link' } as const
type Tone = keyof typeof variants

const components = {
  button: ({ 'data-tone': tone, ...rest }: ComponentProps<'button'> & { 'data-tone'?: Tone }) => (
    <Button variant={variants[tone ?? 'plain']} data-tone={tone} {...rest} />
  ),
  input: (props: ComponentProps<'input'>) =>
    props.type === 'checkbox' ? <input className="size-6 accent-primary" {...props} /> : <Input {...props} />,
  label: (props: ComponentProps<'label'>) => <Label {...props} />,
  section: (props: ComponentProps<'section'>) => <section className="mb-6 rounded-xl border bg-card p-6 text-card-foreground" {...props} />,
} as unknown as PartComponents

const layout =
  'grid gap-4 [&_[data-part]]:grid [&_[data-part]]:gap-4 [&_form]:grid [&_form]:gap-4 [&_[data-field]]:grid [&_[data-field]]:gap-2 ' +
  '[&_[data-buttons]]:flex [&_[data-buttons]]:flex-wrap [&_[data-buttons]]:gap-2 [&_[data-method]]:grid [&_[data-error]]:text-sm ' +
  '[&_[data-error]]:text-destructive [&_[data-alert]:empty]:hidden [&_[data-alert]]:text-sm [&_[data-alert]]:text-destructive ' +
  '[&_[data-hint]]:text-sm [&_[data-hint]]:text-muted-foreground [&_h2]:text-xl [&_h2]:font-semibold [&_h3]:font-semibold ' +
  '[&_[data-divider]]:text-center [&_[data-divider]]:text-sm [&_[data-divider]]:text-muted-foreground [&_li]:flex [&_li]:flex-wrap ' +
  '[&_li]:items-center [&_li]:justify-between [&_li]:gap-2 [&_li]:border-t [&_li]:py-3 [&_small]:block [&_small]:text-muted-foreground'

export function SignIn(props: ComponentProps<typeof In>): ReactNode {
  return (
    <Card className="mx-auto w-full max-w-sm">
      <CardContent className={layout}>
        <In components={components} {...props} />
      </CardContent>
    </Card>
  )
}

export function SignUp(props: ComponentProps<typeof Up>): ReactNode {
  return (
    <Card className="mx-auto w-full max-w-sm">
      <CardContent className={layout}>
        <Up components={components} {...props} />
      </CardContent>
    </Card>
  )
}

export function AccountPage(props: ComponentProps<typeof Account>): ReactNode {
  return (
    <div className={layout}>
      <Account components={components} {...props} />
    </div>
  )
}

export function OrganizationPage(props: ComponentProps<typeof Organization>): ReactNode {
  return (
    <div className={layout}>
      <Organization components={components} {...props} />
    </div>
  )
}

export function ApiKeys(props: ComponentProps<typeof Keys>): ReactNode {
  return (
    <div className={layout}>
      <Keys components={components} {...props} />
    </div>
  )
}

const menu =
  'relative inline-block [&_[data-opener]]:flex [&_[data-opener]]:gap-2 [&_[data-menu]]:absolute [&_[data-menu]]:z-10 [&_[data-menu]]:mt-1 ' +
  '[&_[data-menu]]:min-w-60 [&_[data-menu]]:rounded-md [&_[data-menu]]:border [&_[data-menu]]:bg-popover [&_[data-menu]]:p-2 [&_[data-menu]]:shadow-md'

export function UserButton(props: ComponentProps<typeof User>): ReactNode {
  return (
    <div className={menu}>
      <User components={components} {...props} />
    </div>
  )
}

export function OrganizationSwitcher(props: ComponentProps<typeof Switcher>): ReactNode {
  return (
    <div className={menu}>
      <Switcher components={components} {...props} />
    </div>
  )
}
