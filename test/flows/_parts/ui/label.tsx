/** Stands for the label of shadcn/ui. */
import type { ComponentProps, ReactNode } from 'react'

export function Label({ htmlFor, children, ...props }: ComponentProps<'label'>): ReactNode {
  return (
    <label data-slot="label" htmlFor={htmlFor} {...props}>
      {children}
    </label>
  )
}
