"""The tiers of tests; each command of the Makefile also runs what the one before it runs.

- `make check`: what needs no other process and no browser, and is not `slow`
- `make test`: what is not `slow`, and with PostgreSQL what is marked `database`
- `make test-all`: everything

The marker `slow` is set from this file alone. A new file is not slow; a new test in `tests/e2e` is. With
PostgreSQL, what uses rows by the ORM alone is slow too: rights, forms and texts, the same on either database.
"""

from collections.abc import Iterable

import pytest

SLOW = (
    # In process: they try very many inputs, wait, or make tens of thousands of rows.
    "tests/api/test_fairness.py",
    "tests/api/test_fuzz.py",
    "tests/files/test_decoding.py::test_a_bomb_within_the_limits_costs_little",
    "tests/files/test_decoding.py::test_a_picture_is_stored_in_four_megabytes",
    "tests/files/test_decoding.py::test_a_text_bomb_in_a_png_is_refused",
    "tests/files/test_hostile_documents.py",
    "tests/files/test_readers.py::test_a_file_that_needs_its_time_gets_it_after_all",
    "tests/files/test_readers.py::test_a_file_without_end_is_refused_at_its_own_limits",
    "tests/files/test_s3.py",
    "tests/rendering/test_bounds.py",
    "tests/rendering/test_maths.py::test_a_reader_at_any_position_sees_the_equations",
    "tests/rendering/test_maths.py::test_equations_end_the_same_in_whatever_pieces_they_arrive",
    "tests/rendering/test_maths.py::test_equations_end_the_same_one_character_at_a_time",
    "tests/rendering/test_maths.py::test_equations_leave_one_element_a_block_and_no_mask",
    "tests/rendering/test_message_html.py::test_html_made_plain_by_the_page_budget_is_not_kept",
    "tests/simulation/test_simulation.py",
    "tests/test_settings.py::test_eight_processes_at_once_make_one_key",
    "tests/transfer/test_child.py",
    "tests/transfer/test_export.py::test_memory_does_not_grow_with_the_conversation",
    "tests/transfer/test_formats_canvas.py::test_a_pattern_without_end_is_given_up",
    "tests/transfer/test_formats_canvas.py::test_a_whole_file_has_one_budget",
    "tests/turns/test_prompt.py::test_of_a_deep_tree_only_what_can_fit_is_read",
    "tests/turns/test_store.py::test_long_branch_is_read_in_one_bounded_query",
    "tests/upstream/test_connections.py::test_client_survives_a_hundred_cancellations",
    "tests/views/test_thread.py::test_a_tree_of_any_shape_is_read_and_walked_within_its_time",
    "tests/views/test_usage.py::test_a_hundred_thousand_runs_are_read_from_the_index",
    "tests/web/test_hostile_pages.py::test_deep_and_wide_pages_end_within_their_limits",
    # Browsers: the journeys below are not slow.
    "tests/e2e",
    "tests/engines",
    "tests/safety/test_fields.py",
    "tests/safety/test_names.py",
    "tests/safety/test_watch.py",
    # Faults, fleets, proxies, workers, restarts
    "tests/chaos",
    "tests/deploy",
    "tests/engine/test_tree_crash.py",
    "tests/engine/test_unsaved.py",
    "tests/engine/test_unused_modules.py",
    "tests/metrics/test_served.py",
    "tests/metrics/test_shared_files.py",
    "tests/move/test_move.py",
    "tests/test_damage.py",
    "tests/test_deadlines.py",
    "tests/test_doctor.py",
    "tests/test_memory.py",
    "tests/test_outage.py",
    "tests/test_prepare.py",
    "tests/test_start.py",
    "tests/test_workers.py",
    "tests/tools",
    "tests/transfer/test_restart.py",
    "tests/upgrade",
    # The real local model: the journey of a newcomer talks to it.
    "tests/test_shared_model.py",
    "tests/upstream/providers/test_llama_cpp.py",
    "tests/upstream/providers/test_shared_llama.py",
    # Packages of others' clients
    "tests/api/test_openapi.py",
    "tests/api/test_sdks.py",
    # Every address of the site
    "tests/safety/test_crawl.py",
    "tests/safety/test_forgery.py",
    "tests/safety/test_observatory.py",
    "tests/safety/test_poisoned_pages.py",
)

# For each feature, the one test with a browser that is not slow.
JOURNEYS = (
    "tests/e2e/test_sidebar.py::test_the_account_menu_opens_moves_and_returns_the_focus",
    "tests/e2e/test_arrangement.py::test_an_open_conversation_is_archived_tagged_and_taken_back",
    "tests/e2e/test_assistants.py::test_an_assistant_from_its_form_to_its_chat",
    "tests/e2e/test_axe.py::test_a_finished_reply_of_every_kind_of_block",
    "tests/e2e/test_citations.py::test_sources_come_with_the_end_and_stay",
    "tests/e2e/test_client_idioms.py::test_an_event_source_appends_each_response_until_done",
    "tests/e2e/test_code_actions.py::test_code_is_saved_exactly_under_a_name_of_ours",
    "tests/e2e/test_text_beside.py::test_a_block_opens_runs_is_edited_and_compared",
    "tests/e2e/test_connection.py::test_a_broken_connection_is_resumed_where_it_was",
    "tests/e2e/test_continue.py::test_a_stopped_reply_goes_on_where_it_stood",
    "tests/e2e/test_copy.py::test_code_is_copied_exactly_streamed_or_loaded",
    "tests/e2e/test_documents.py::test_documents_are_added_read_sent_and_edited",
    "tests/e2e/test_drafts.py::test_each_conversation_has_its_own_draft",
    "tests/e2e/test_edit.py::test_an_edit_makes_a_new_version_of_what_follows",
    "tests/e2e/test_feedback.py::test_a_thumb_is_given_turned_and_taken_back",
    "tests/e2e/test_history.py::test_older_messages_load_without_moving_the_page",
    "tests/e2e/test_inclusion.py::test_the_keyboard_is_enough_from_signing_in_to_signing_out",
    "tests/e2e/test_keys.py::test_a_key_is_made_shown_and_revoked",
    "tests/e2e/test_long_text.py::test_a_long_question_is_folded_and_unfolds",
    "tests/e2e/test_paper_and_clipboard.py::test_a_streamed_equation_is_the_one_of_a_reload",
    "tests/e2e/test_models.py::test_a_model_is_found_chosen_and_kept",
    "tests/e2e/test_newcomer.py::test_a_newcomer_asks_the_local_model_and_loses_nothing",
    "tests/e2e/test_offered_models.py::test_the_administrator_hides_shows_and_makes_a_default",
    "tests/e2e/test_outcome.py::test_a_failure_reads_the_same_after_a_reload",
    "tests/e2e/test_page.py::test_a_question_is_shown_at_once_and_its_reply_grows",
    "tests/e2e/test_page.py::test_a_reload_in_the_middle_loses_nothing",
    "tests/e2e/test_page.py::test_markup_in_a_question_or_a_reply_stays_text",
    "tests/e2e/test_parameters.py::test_chosen_values_are_sent_and_shown_again",
    "tests/e2e/test_people.py::test_an_invitation_becomes_an_account_that_chats",
    "tests/e2e/test_pictures.py::test_pictures_are_added_described_sent_and_opened",
    "tests/e2e/test_preferences.py::test_a_choice_over_the_chat_is_seen_and_stored_at_once",
    "tests/e2e/test_prompts.py::test_the_menu_of_prompts",
    "tests/e2e/test_queue.py::test_messages_wait_and_go_out_in_order",
    "tests/e2e/test_regenerate.py::test_a_new_version_grows_in_the_place_of_the_old_one",
    "tests/e2e/test_rendering.py::test_a_reload_shows_the_streamed_page",
    "tests/e2e/test_review.py::test_a_reviewer_can_navigate_by_keyboard",
    "tests/e2e/test_search.py::test_keys_find_a_message_on_another_branch_and_open_it",
    "tests/e2e/test_settings.py::test_instructions_are_saved_and_told_to_the_model",
    "tests/e2e/test_share_menu.py::test_two_clicks_share_a_new_chat_and_it_stays_open",
    "tests/e2e/test_sidebar.py::test_a_conversation_is_renamed_in_its_place",
    "tests/e2e/test_sidebar.py::test_a_deletion_is_taken_back",
    "tests/e2e/test_signin.py::test_a_question_goes_out_once_after_signing_in_in_place",
    "tests/e2e/test_sync.py::test_a_turn_made_on_another_device_appears_with_its_question",
    "tests/e2e/test_temporary.py::test_a_temporary_chat_goes_when_its_page_is_left",
    "tests/e2e/test_thinking.py::test_one_press_tries_again_with_more_or_less",
    "tests/e2e/test_sidebar_marks.py::test_open_pages_show_a_generated_title_at_once",
    "tests/e2e/test_transfer.py::test_a_file_is_imported_from_its_preview",
    "tests/e2e/test_versions.py::test_the_chosen_version_is_stored_with_its_branch",
    "tests/e2e/test_without_javascript.py::test_signing_in_asking_and_signing_out_need_no_script",
)

# Marked `database`, and with PostgreSQL run by `make test-all` alone.
SLOW_ON_POSTGRES = (
    "tests/admin/test_confirmation.py",
    "tests/admin/test_invites_admin.py",
    "tests/admin/test_password_links.py",
    "tests/admin/test_roles.py",
    "tests/admin/test_site_models_admin.py",
    "tests/admin/test_users_admin.py",
    "tests/catalog/test_catalog.py",
    "tests/catalog/test_sync.py",
    "tests/passages/test_prompts.py",
    "tests/titles/test_titles.py",
    "tests/transfer/test_assistants.py",
    "tests/transfer/test_citations.py",
    "tests/transfer/test_documents.py",
    "tests/transfer/test_pictures.py",
    "tests/transfer/test_prompts.py",
    "tests/views/in_process",
    "tests/views/test_access.py",
    "tests/views/test_identifiers.py",
    "tests/views/test_invites.py",
    "tests/views/test_keys.py",
    "tests/views/test_password_ends_keys.py",
    "tests/views/test_passwords.py",
    "tests/views/test_pictures.py",
    "tests/views/test_preferences.py",
    "tests/views/test_setup_link.py",
)


def mark_slow(items: Iterable[pytest.Item], database: str) -> None:
    for item in items:
        test = item.nodeid.split("[")[0]
        if is_slow(test, database) and test not in JOURNEYS:
            item.add_marker(pytest.mark.slow)


def is_slow(path: str, database: str = "sqlite") -> bool:
    """Return True if a file, or the test of a node id, is slow with this database."""
    slow_ones = SLOW + SLOW_ON_POSTGRES if database == "postgres" else SLOW
    return any(path == slow or path.startswith((f"{slow}/", f"{slow}::")) for slow in slow_ones)


def has_only_slow_tests(file: str, database: str = "sqlite") -> bool:
    return is_slow(file, database) and not any(journey.startswith(f"{file}::") for journey in JOURNEYS)
