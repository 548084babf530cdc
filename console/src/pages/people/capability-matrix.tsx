import { Code, NativeSelect, Stack, Table, Text } from '@mantine/core';
import type { Capability, MemberDetail } from '../../../../client/index.ts';
import { api } from '../../api.ts';
import { useAction } from '../../parts/forms/action.ts';
import { RowTable } from '../../parts/data/row-table.tsx';
import { Tag } from '../../parts/tag.tsx';
import { identityQuery, useIdentity, useMay } from '../../queries/identity.ts';
import { membersKey } from '../../queries/members.ts';
import { capabilityNames, capabilityTexts } from './capability-texts.ts';

type Setting = MemberDetail['capabilities'][Capability];
type Choice = 'inherit' | 'allow' | 'deny';

const overrideOf = { inherit: null, allow: true, deny: false } as const satisfies Record<
  Choice,
  boolean | null
>;
const choiceTexts = {
  inherit: 'Same as role',
  allow: 'Allow',
  deny: 'Deny',
} as const satisfies Record<Choice, string>;

/** The ten capabilities: the role's default, the member's override, and the result. A choice is saved immediately. */
export function CapabilityMatrix({ member }: { member: MemberDetail }) {
  const mayManage = useMay('manage_members');
  const change = useAction(
    (overrides: Partial<Record<Capability, boolean | null>>) =>
      api().changePermissions(member.id, overrides),
    {
      changes: [membersKey, identityQuery.queryKey],
      done: 'Permission saved. It applies from the next request',
    },
  );
  return (
    <Stack gap="xs">
      <Text size="sm" c="dimmed">
        {mayManage
          ? 'An override takes precedence over the role. You can only grant permissions that you have.'
          : 'An override takes precedence over the role. You need the manage_members permission to change overrides.'}
      </Text>
      <RowTable
        label="Permissions"
        minWidth={560}
        columns={['Permission', `Role: ${member.role}`, 'Override', 'Result']}
      >
        {capabilityNames.map((name) => (
          <Table.Tr key={name}>
            <Table.Td>
              <Code>{name}</Code>
              <Text size="xs" c="dimmed">
                {capabilityTexts[name]}
              </Text>
            </Table.Td>
            <Table.Td>{member.capabilities[name].default ? 'yes' : 'no'}</Table.Td>
            <Table.Td>
              {mayManage ? (
                <Override
                  name={name}
                  setting={member.capabilities[name]}
                  busy={change.isPending}
                  onChoose={(choice) => change.mutate({ [name]: overrideOf[choice] })}
                />
              ) : (
                choiceTexts[choiceOf(member.capabilities[name])]
              )}
            </Table.Td>
            <Table.Td>
              <Effective held={member.capabilities[name].effective} />
            </Table.Td>
          </Table.Tr>
        ))}
      </RowTable>
    </Stack>
  );
}

function Override({
  name,
  setting,
  busy,
  onChoose,
}: {
  name: Capability;
  setting: Setting;
  busy: boolean;
  onChoose: (choice: Choice) => void;
}) {
  const held = useIdentity().capabilities[name];
  // The service rejects grants of capabilities that the user does not have.
  const refused = (choice: Choice): boolean =>
    !held && !setting.effective && (overrideOf[choice] ?? setting.default);
  return (
    <NativeSelect
      size="xs"
      aria-label={`Override ${name}`}
      value={choiceOf(setting)}
      disabled={busy}
      onChange={(event) => onChoose(event.currentTarget.value as Choice)}
      data={(Object.keys(choiceTexts) as Choice[]).map((choice) => ({
        value: choice,
        label: choiceTexts[choice],
        disabled: refused(choice),
      }))}
    />
  );
}

const choiceOf = ({ override }: Setting): Choice =>
  override === null ? 'inherit' : override ? 'allow' : 'deny';

const Effective = ({ held }: { held: boolean }) => (
  <Tag color={held ? 'teal' : 'gray'}>{held ? 'Allowed' : 'Not allowed'}</Tag>
);
