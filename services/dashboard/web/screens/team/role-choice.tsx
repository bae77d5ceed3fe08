// The choice of a role, with what each may do.
import { useId } from 'preact/hooks'
import { ROLE_WORDS, type UserRole } from './roles.ts'

export interface RoleChoiceProps {
  value: UserRole
  onChange(role: UserRole): void
}

export function RoleChoice({ value, onChange }: RoleChoiceProps) {
  const id = useId()
  return (
    <fieldset class="team-role-choice">
      <legend>Role</legend>
      {ROLE_WORDS.map(role => (
        <div key={role.value}>
          <input
            id={`${id}-${role.value}`}
            type="radio"
            name={id}
            checked={role.value === value}
            aria-describedby={`${id}-${role.value}-may`}
            onChange={() => onChange(role.value)}
          />
          <div>
            <label for={`${id}-${role.value}`}>{role.label}</label>
            <p class="hint" id={`${id}-${role.value}-may`}>
              {role.may}
            </p>
          </div>
        </div>
      ))}
    </fieldset>
  )
}
