"""Each row of a statement is fetched exactly once, by any mix of fetch methods."""


class TestRows:
    def test_in_parts(self, project):
        with project.adapter.connection_named("rows"):
            cursor = project.adapter.handle.cursor()
            cursor.execute("select id from range(5) order by id")
            parts = [cursor.fetchmany(2) for _ in range(4)]
        assert parts == [[(0,), (1,)], [(2,), (3,)], [(4,)], []]

    def test_a_part_and_the_rest(self, project):
        with project.adapter.connection_named("rows"):
            cursor = project.adapter.handle.cursor()
            cursor.execute("select id from range(5) order by id")
            found = cursor.fetchmany(1), cursor.fetchone(), cursor.fetchall(), cursor.fetchall()
            cursor.execute("select id from range(2) order by id")
            again = cursor.fetchmany(5), cursor.fetchmany(5), cursor.fetchone()
        assert found == ([(0,)], (1,), [(2,), (3,), (4,)], [])
        assert again == ([(0,), (1,)], [], None)
