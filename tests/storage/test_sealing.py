"""Sealing: a sealed secret opens only in its location, with its key, unchanged."""

import secrets

import pytest

from tradewind.storage.keyring import Keyring
from tradewind.storage.sealing import CannotUnseal, key_id_of, seal, unseal

OLD = secrets.token_bytes(32)
NEW = secrets.token_bytes(32)
PLACE = "subscription/whk_1/secret"


@pytest.mark.parametrize("value", [b"", b"whsec_x", bytes(range(256)), b"\0" * 10_000])
def test_what_is_sealed_is_unsealed_as_it_was(value: bytes) -> None:
    keyring = Keyring([NEW])

    assert unseal(keyring, seal(keyring, value, PLACE), PLACE) == value


def test_the_same_value_is_never_sealed_the_same_way_twice() -> None:
    keyring = Keyring([NEW])

    sealed = {seal(keyring, b"value", PLACE) for _ in range(100)}

    assert len(sealed) == 100
    assert not any(b"value" in each for each in sealed)


def test_a_new_master_secret_seals_and_the_old_one_still_opens() -> None:
    sealed = seal(Keyring([OLD]), b"value", PLACE)
    rotating = Keyring([NEW, OLD])

    assert unseal(rotating, sealed, PLACE) == b"value"
    sealed_anew = seal(rotating, b"value", PLACE)

    assert key_id_of(sealed) == Keyring([OLD]).current_id
    assert key_id_of(sealed_anew) == rotating.current_id == Keyring([NEW]).current_id
    assert unseal(Keyring([NEW]), sealed_anew, PLACE) == b"value"


def test_a_value_whose_master_secret_is_gone_says_which_one_it_needs() -> None:
    sealed = seal(Keyring([OLD]), b"value", PLACE)

    with pytest.raises(CannotUnseal) as caught:
        unseal(Keyring([NEW]), sealed, PLACE)

    assert str(caught.value) == (
        f"The value sealed for {PLACE} needs the master secret with key id "
        f"{Keyring([OLD]).current_id}, which TRADEWIND_SECRET_KEY no longer lists."
    )


def test_a_value_does_not_open_in_another_place() -> None:
    keyring = Keyring([NEW])
    sealed = seal(keyring, b"value", PLACE)

    with pytest.raises(CannotUnseal) as caught:
        unseal(keyring, sealed, "subscription/whk_2/secret")

    assert str(caught.value) == (
        "The value sealed for subscription/whk_2/secret was changed or moved."
    )


def test_every_changed_bit_is_noticed() -> None:
    keyring = Keyring([NEW])
    sealed = seal(keyring, b"value", PLACE)

    for bit in range(8 * len(sealed)):
        changed = bytearray(sealed)
        changed[bit // 8] ^= 1 << bit % 8
        with pytest.raises(CannotUnseal):
            unseal(keyring, bytes(changed), PLACE)


def test_every_shortened_value_is_noticed() -> None:
    keyring = Keyring([NEW])
    sealed = seal(keyring, b"value", PLACE)

    for length in range(len(sealed)):
        with pytest.raises(CannotUnseal):
            unseal(keyring, sealed[:length], PLACE)


def test_a_key_id_made_up_by_somebody_else_does_not_open() -> None:
    """Sealed by another system, then relabelled with an id of ours."""
    theirs = seal(Keyring([OLD]), b"value", PLACE)
    ours = Keyring([NEW])

    with pytest.raises(CannotUnseal):
        unseal(ours, bytes.fromhex(ours.current_id) + theirs[4:], PLACE)


def test_each_purpose_and_each_master_has_a_key_of_its_own() -> None:
    keyring = Keyring([NEW, OLD])

    keys = [key for _, key in keyring.every("sealing") + keyring.every("api keys")]

    assert len({NEW, OLD, *keys}) == 6
    assert all(len(key) == 32 for key in keys)


def test_the_first_master_makes_and_all_of_them_are_found() -> None:
    keyring = Keyring([NEW, OLD])
    old_id, old_key = Keyring([OLD]).current("sealing")

    assert keyring.current("sealing") == Keyring([NEW]).current("sealing")
    assert keyring.ids == [Keyring([NEW]).current_id, old_id]
    assert keyring.find("sealing", old_id) == old_key
    assert keyring.find("sealing", "00000000") is None


def test_a_key_id_gives_nothing_away_of_its_master() -> None:
    key_id = Keyring([NEW]).current_id

    assert len(key_id) == 8
    assert key_id not in NEW.hex()
