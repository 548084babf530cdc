import { Code, NativeSelect, Stack, Table } from '@mantine/core';
import type { Capability, MemberDetail } from '#client/index.ts';
import { api } from '#console/src/api.ts';
import { words } from '#console/src/messages/en/words.ts';
import {
  capabilityMatrix as text,
  capabilityTexts,
  permission,
} from '#console/src/messages/en/people/permissions.ts';
import { roleNamesInText } from '#console/src/messages/en/parts/roles.ts';
import { people } from '#console/src/messages/en/people/shared.ts';
import { useAction } from '#console/src/parts/forms/action.ts';
import { Row, RowTable } from '#console/src/parts/data/row-table.tsx';
import { Tag } from '#console/src/parts/tag.tsx';
import { Dimmed } from '#console/src/parts/text/dimmed.tsx';
import { identityQuery, useIdentity, useMay } from '#console/src/queries/identity.ts';
import { membersKey } from '#console/src/queries/members.ts';
import { capabilityNames } from './capability-texts.ts';

type Setting = MemberDetail['capabilities'][Capability];
type Choice = 'inherit' | 'allow' | 'deny';

const overrideOf = { inherit: null, allow: true, deny: false } as const satisfies Record<
  Choice,
  boolean | null
>;

/** The ten capabilities: the role's default, the member's override, and the result. A choice is saved immediately. */
export function CapabilityMatrix({ member }: { member: MemberDetail }) {
  const mayManage = useMay('manage_members');
  const change = useAction(
    (overrides: Partial<Record<Capability, boolean | null>>) =>
      api().changePermissions(member.id, overrides, { ifMatch: member.etag }),
    {
      changes: [membersKey, identityQuery.queryKey],
      done: text.saved,
    },
  );
  return (
    <Stack gap="xs">
      <Dimmed>{mayManage ? text.aboutChange : text.about}</Dimmed>
      <RowTable
        label={people.permissions}
        minWidth={560}
        columns={[
          text.permission,
          text.role(roleNamesInText[member.role]),
          text.override,
          words.result,
        ]}
      >
        {capabilityNames.map((name) => (
          <Row key={name}>
            <Table.Td>
              <Code>{name}</Code>
              <Dimmed size="xs">{capabilityTexts[name]}</Dimmed>
            </Table.Td>
            <Table.Td>{member.capabilities[name].default ? text.yes : text.no}</Table.Td>
            <Table.Td>
              {mayManage ? (
                <Override
                  name={name}
                  setting={member.capabilities[name]}
                  busy={change.isPending}
                  onChoose={(choice) => change.mutate({ [name]: overrideOf[choice] })}
                />
              ) : (
                text.choices[choiceOf(member.capabilities[name])]
              )}
            </Table.Td>
            <Effective held={member.capabilities[name].effective} />
          </Row>
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
      aria-label={text.overrideOf(name)}
      value={choiceOf(setting)}
      disabled={busy}
      onChange={(event) => onChoose(event.currentTarget.value as Choice)}
      data={(Object.keys(overrideOf) as Choice[]).map((choice) => ({
        value: choice,
        label: text.choices[choice],
        disabled: refused(choice),
      }))}
    />
  );
}

const choiceOf = ({ override }: Setting): Choice =>
  override === null ? 'inherit' : override ? 'allow' : 'deny';

const Effective = ({ held }: { held: boolean }) => (
  <Tag color={held ? 'success' : 'gray'}>{held ? permission.allowed : permission.notAllowed}</Tag>
);
