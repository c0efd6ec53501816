/** Stands for the button of shadcn/ui, with its properties. */
import type { ComponentProps, ReactNode } from 'react'

type Variant = 'default' | 'destructive' | 'outline' | 'secondary' | 'ghost' | 'link'

export function Button({ variant = 'default', ...props }: ComponentProps<'button'> & { variant?: Variant }): ReactNode {
  return <button data-slot="button" data-variant={variant} {...props} />
}
